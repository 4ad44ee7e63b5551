import { createHash, generateKeyPairSync } from 'node:crypto'
import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { createLogger, findCredentials, redact, redactStrings, registerSecret, withoutSecrets } from '../../telemetry/index.ts'
import { telemetryLimits } from '../../telemetry/limits.ts'

/** The same on each run, and nothing like a word or a known shape. */
const canary = (name: string) => createHash('sha256').update(name).digest('base64url').slice(0, 40)
const secret = canary('model key')
const bytes = Buffer.from(secret)

test('before it is registered nothing of it is replaced: the tests below would see it', () => {
  expect(redact(`the key ${secret} is`)).toBe(`the key ${secret} is`)
  registerSecret(secret)
  expect(redact(`the key ${secret} is`)).toBe('the key [redacted] is')
})

describe('a registered secret is found', () => {
  const spellings: [name: string, text: string][] = [
    ['twice', `${secret} and ${secret}`],
    ['in base64', bytes.toString('base64')],
    ['in base64 behind one byte', Buffer.concat([Buffer.from('x'), bytes]).toString('base64')],
    ['in base64 behind two bytes', Buffer.concat([Buffer.from('xy'), bytes]).toString('base64')],
    ['as basic authorisation', Buffer.from(`x-access-token:${secret}`).toString('base64')],
    ['in base64 for addresses', bytes.toString('base64url')],
    ['in hex', bytes.toString('hex')],
    ['in upper-case hex', bytes.toString('hex').toUpperCase()],
    ['in an address', `https://example.org/?q=${encodeURIComponent(secret)}`],
    ['without its first seven characters', secret.slice(7)],
    ['without its last seven characters', secret.slice(0, -7)],
    ['inside a longer word', `abc${secret}def`],
  ]
  test.each(spellings)('%s', (_, text) => {
    const clean = redact(text)
    expect(clean).toContain('[redacted]')
    for (let at = 0; at + 12 <= secret.length; at++) {
      const part = secret.slice(at, at + 12)
      expect(clean).not.toContain(part)
      expect(clean).not.toContain(Buffer.from(part).toString('hex'))
    }
  })
  test('as a key in PEM, also one of its lines alone, and the frame of another stays', () => {
    const pem = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
    const line = pem.split('\n')[5] ?? ''
    expect(redact(line)).toBe(line)
    registerSecret(pem)
    expect(redact(line)).toBe('[redacted]')
    expect(redact('it begins with -----BEGIN PRIVATE KEY-----')).toBe('it begins with -----BEGIN PRIVATE KEY-----')
  })
  test('spread over lines, and then nothing of the text goes out', () => {
    const spread = (secret.match(/.{1,8}/g) ?? []).join('\n> ')
    expect(redact(spread)).toBe(spread)
    expect(withoutSecrets(`The reason:\n> ${spread}`)).toMatch(/^Withheld: /)
    expect(withoutSecrets('The reason: it was late.')).toBe('The reason: it was late.')
  })
  test('anywhere in plain data, and all else is kept as it is', () => {
    const data = { a: [secret, 1, null, { b: `x ${secret}` }], fixture: `ghp_${'a1'.repeat(18)}` }
    expect(redactStrings(data)).toEqual({ a: ['[redacted]', 1, null, { b: 'x [redacted]' }], fixture: data.fixture })
  })
})

describe('nothing of a text goes out in which one is spelled so that only a reader puts it together', () => {
  const values = { short: 'Zq8w/k3NpR7', 'of 28': 'gk_Zq8wLk3NpR7tVx2YbC5dFg9H', long: canary('spelled out') }
  const by = (text: string, width: number, joint: string) => (text.match(new RegExp(`.{1,${width}}`, 'gs')) ?? []).join(joint)
  const each = (text: string, spell: (code: number) => string) => [...text].map(character => spell(character.charCodeAt(0))).join('')
  const hex = (code: number) => code.toString(16).padStart(2, '0')
  const base64 = (text: string, encoding: BufferEncoding = 'utf8') => Buffer.from(`key: ${text}, so`, encoding).toString('base64')
  const spellings: [name: string, spell: (value: string) => string][] = [
    ['in lines', value => by(value, 4, '\n')],
    ['letter by letter', value => by(value, 1, ' ')],
    ['with blanks of no width', value => by(value, 3, '\u200b')],
    ...['-', '_', '/', '+', '=', '.', '-_/+='].map(
      joint => [`with ${joint} between`, (value: string) => by(value, 6, joint)] as [string, typeof base64],
    ),
    ['by numbers of JSON', value => each(value, code => `\\u00${hex(code)}`)],
    ['by numbers of JavaScript', value => each(value, code => `\\u{${hex(code)}}`)],
    ['by numbers of C', value => each(value, code => `\\x${hex(code)}`)],
    ['by numbers of eight', value => each(value, code => `\\${code.toString(8)}`)],
    ['by entities', value => each(value, code => `&#${code};`)],
    ['by entities in hex', value => each(value, code => `&#x${hex(code)};`)],
    ['as an address, in lower case', value => each(value, code => `%${hex(code)}`)],
    [
      'with one letter by its number',
      value => `${value.slice(0, 5)}${each(value.slice(5, 6), code => `\\u00${hex(code)}`)}${value.slice(6)}`,
    ],
    ['in pairs of hex', value => each(value, code => `${hex(code)}:`)],
    ['in hex of both cases', value => each(value, code => (code % 2 ? hex(code).toUpperCase() : hex(code)))],
    ['in base64 that is wrapped', value => by(base64(value), 9, '\n')],
    ['in UTF-16', value => Buffer.from(value, 'utf16le').toString('latin1')],
    ['in the base64 of UTF-16', value => base64(value, 'utf16le')],
    ['reversed', value => [...value].reverse().join('')],
    ['in upper case', value => value.toUpperCase()],
  ]
  const found = (text: string) => [withoutSecrets(`so: ${text} it is`).includes(text), findCredentials(text).map(({ name }) => name)]
  test('red: as long as nobody registered them', () => {
    for (const value of Object.values(values)) {
      for (const [, spell] of spellings) expect(found(spell(value))).toEqual([true, []])
    }
    for (const value of Object.values(values)) registerSecret(value)
  })
  test.each(spellings)('%s', (_, spell) => {
    for (const value of Object.values(values)) {
      expect(found(spell(value))).toEqual([false, expect.arrayContaining(['credential of this installation'])])
    }
  })
  test('wherever a long text is cut to be searched', () => {
    const { barePieceCharacters: most } = telemetryLimits
    for (const value of Object.values(values)) {
      for (const spell of [(value: string) => by(value, 1, '\n'), (value: string) => each(value, code => `\\u00${hex(code)}`)]) {
        for (const before of [most - 8, most - 3, most - 2, most - 1]) {
          expect(withoutSecrets(`${'.'.repeat(before - 20)}${spell(value)}`).slice(0, 9)).toBe('Withheld:')
        }
      }
    }
  })
  test.each(['not-needed', 'sk-no-key-required'])(
    'but a short one of words, %s, is only looked for as it is: the words stand elsewhere',
    value => {
      registerSecret(value)
      const text = `it is ${value.replaceAll('-', ' ')}`
      expect([withoutSecrets(text), withoutSecrets(`${value}!`)]).toEqual([text, '[redacted]!'])
    },
  )
  test('and a text made to be slow is searched in time', { timeout: 60_000 }, () => {
    const pieces = ['%41', '%4', '\\u0041', '\\u{', '\\u{000000', '&#00065;', '&#x', '&', '\\', '\\4', '\0', 'a\\', 'Zq8w/k3NpR', 'a ']
    const slow = pieces.filter(piece => {
      const text = `\\u{${piece.repeat(Math.ceil(1_048_576 / piece.length))}`
      const startedAt = performance.now()
      findCredentials(text)
      return performance.now() - startedAt > 3_000
    })
    expect(slow).toEqual([])
  })
})

describe('what looks like a credential is replaced, whoever it belongs to', () => {
  const a = (count: number) => 'aB3'.repeat(count).slice(0, count)
  const shapes: [name: string, text: string, inFiles: string | null][] = [
    ['a token of an installation', `ghs_${a(36)}`, 'GitHub token'],
    ['a fine-grained token', `github_pat_${a(22)}_${a(59)}`, 'GitHub token'],
    ['a key of a model', `sk-proj-${a(40)}`, 'model key'],
    ["a key of xAI's", `xai-${a(40)}`, 'model key'],
    ['a GitLab token', `glpat-${a(20)}`, 'GitLab token'],
    ['a Stripe key', `sk_live_${a(24)}`, 'Stripe key'],
    ['a secret of a Stripe webhook', `whsec_${a(32)}`, 'Stripe key'],
    ['an AWS key id', `AKIA${'ABCD'.repeat(4)}`, 'AWS key id'],
    ['a Google key', `AIza${a(35)}`, 'Google key'],
    ['a Slack token', 'xoxb-123456789012-abcdef', 'Slack token'],
    ['an npm token', `npm_${a(36)}`, 'npm token'],
    ['a private key', `-----BEGIN RSA PRIVATE KEY-----\n${a(64)}\n${a(12)}==\n-----END RSA PRIVATE KEY-----`, 'private key'],
    ['a JSON web token', `eyJ${a(20)}.eyJ${a(30)}.${a(43)}`, null],
    ['a password in an address', `https://mona:${a(12)}@example.org/`, null],
    ['a token in an address', `https://x-access-token:${a(12)}@example.org/`, null],
    ['a header', `authorization: Bearer ${a(20)}`, null],
    ['basic authorisation', `Basic ${a(24)}==`, null],
  ]
  test.each(shapes)('%s', (_, text, inFiles) => {
    const clean = redact(`before ${text} after`)
    expect(clean).toMatch(/^before .*\[redacted\]/s)
    for (const [part] of text.matchAll(/[A-Za-z0-9]{12,}/g)) expect(clean).not.toContain(part)
    expect([...new Set(findCredentials(`const a = '${text}'\n`).map(({ name }) => name))]).toEqual(inFiles === null ? [] : [inFiles])
  })
  test.each([
    ['words', 'the task-list of risk-management-department, sk-learn'],
    ['a placeholder', 'ghp_xxx, sk-..., <token>'],
    ['an address', 'https://example.org:8080/a@b'],
    ['a commit', 'da39a3ee5e6b4b0d3255bfef95601890afd80709'],
  ])('and %s stays', (_, text) => {
    expect([redact(text), findCredentials(text)]).toEqual([text, []])
  })
  test('of a text that is made to be slow too, in less than a second', () => {
    const texts = ['-----BEGIN A PRIVATE KEY-----', '-eyJaaaaaaaaaaa', 'sk-', 'x-access-token:', '://a:b', 'Basic ', 'authorization: ']
    const startedAt = performance.now()
    for (const text of texts) redact(text.repeat(Math.ceil(100_000 / text.length)))
    expect(performance.now() - startedAt).toBeLessThan(1_000)
  })
})

describe('a token that is minted for an hour', () => {
  const hour = 3_600_000
  const known = (names: readonly string[]) => names.filter(name => redact(canary(name)) === '[redacted]')
  test('is found while it lives and forgotten when it has ended', () => {
    const [first, second] = ['first token', 'second token']
    registerSecret(canary(first), 10 * hour, 9 * hour)
    expect(known([first, second])).toEqual([first])
    registerSecret(canary(second), 12 * hour, 11 * hour)
    expect(known([first, second])).toEqual([second])
  })
  test('is one of so many at most, and what does not end is never dropped for it', () => {
    const names = Array.from({ length: 2_000 }, (_, number) => `token ${number}`)
    for (const name of names) registerSecret(canary(name), 12 * hour, 11 * hour)
    expect(known(names)).toEqual(names.slice(-500))
    expect(redact(secret)).toBe('[redacted]')
    registerSecret(canary('later'), 20 * hour, 19 * hour)
    expect(known(['later', ...names])).toEqual(['later'])
  })
})

describe('many credentials', () => {
  const names = Array.from({ length: 500 }, (_, number) => `one of many ${number}`)
  const prose = Array.from({ length: 1_500 }, (_, line) => `${canary(`line ${line}`)}`).join('\n')
  const least = (runs: number) =>
    Math.min(
      ...Array.from({ length: runs }, () => {
        const startedAt = performance.now()
        redact(prose)
        return performance.now() - startedAt
      }),
    )
  test('cost hardly more than few, and each is found by every part of 31 characters, in each spelling', () => {
    for (const name of names.slice(0, 10)) registerSecret(canary(name))
    const few = least(15)
    for (const name of names) registerSecret(canary(name))
    expect(least(15) / few).toBeLessThan(4)
    expect(redact(prose)).toBe(prose)
    const missed = names.slice(0, 20).flatMap(name => {
      const bytes = Buffer.from(canary(name))
      const spellings = [
        canary(name),
        bytes.toString('hex'),
        bytes.toString('hex').toUpperCase(),
        bytes.toString('base64').replace(/=+$/, ''),
      ]
      const parts = spellings.flatMap(spelling =>
        Array.from({ length: spelling.length - 30 }, (_, at) => spelling.slice(at, at + 31)).filter(
          // The last characters of base64 depend on what follows, too.
          part => !spellings[3]?.endsWith(part),
        ),
      )
      return parts.filter(part => redact(`,${part},${part},`) !== ',[redacted],[redacted],')
    })
    expect(missed).toEqual([])
  })
  test('one within another, side by side, and short ones among them, are found whole', () => {
    const [outer, inner, short] = [canary('outer'), canary('outer').slice(4, 20), 'pass-w0rd']
    for (const value of [inner, outer, short]) registerSecret(value)
    expect(redact(`${outer}${outer} ${inner} x${short}${inner}y ${short.slice(1)}`)).toBe(
      '[redacted][redacted] [redacted] x[redacted][redacted]y ass-w0rd',
    )
  })
})

test('a log line holds none, however deep in its fields and in the causes of its error', () => {
  const stream = new PassThrough()
  const error = new Error(`outer ${secret}`, { cause: new Error(`inner ${secret}`) })
  createLogger('info', stream).warn({ error, url: `https://a:${secret}@b`, hints: [{ text: secret }] }, 'failed')
  const line = String(stream.read())
  expect(JSON.parse(line)).toMatchObject({ msg: 'failed', hints: [{ text: '[redacted]' }], error: { message: 'outer [redacted]' } })
  expect(line).not.toContain(secret.slice(0, 20))
})
