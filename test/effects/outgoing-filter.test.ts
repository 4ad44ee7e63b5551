import { describe, expect, test } from 'vitest'
import { joinBlocks, makeInert, makeInertForCommit } from '../../effects/outgoing-filter.ts'
import { registerSecret } from '../../telemetry/index.ts'

describe('Q28, D01: foreign text is made inert', () => {
  test.each([
    ['a mention', 'ask @octocat', 'ask `@octocat`'],
    ['a team', '@org/team look', '`@org/team` look'],
    ['a mention written as an entity', '&#64;octocat &#x40;octocat &commat;octocat', '`@octocat` `@octocat` `@octocat`'],
    ['a closing keyword', 'Fixes #12, closes owner/repo#3', 'Fixes `#12`, closes `owner/repo#3`'],
    ['a closing keyword behind a tag character', 'closes: \u{e0020} #1 fix\ufe0f\u3164#2', 'closes: \u{e0020} `#1` fix\ufe0f\u3164`#2`'],
    ['a closing keyword before a bare address', 'closes www.x.example/a/b/issues/1 now', 'closes `www.x.example/a/b/issues/1` now'],
    ['a closing keyword behind what nobody sees', 'closes\u0085#1 fix \u200b\u00ad#2', 'closes\u0085`#1` fix \u200b\u00ad`#2`'],
    ['a closing keyword before a link', 'resolves: https://example.org/o/r/issues/5', 'resolves: `https://example.org/o/r/issues/5`'],
    ["another bot's command", '/lgtm\n  /merge now', '`/lgtm`\n  `/merge` now'],
    ['an image', '![x](https://example.org/a.png)', '[image removed: x]'],
    ['an image by reference', '![][a]', '[image removed]'],
    ['an image in HTML', '<img src="https://example.org/a.png">', '&lt;img src="https://example.org/a.png">'],
    ['a hidden comment', 'a <!-- hidden --> b', 'a &lt;!-- hidden --> b'],
    ['details that would hide what follows', '<details>', '&lt;details>'],
  ])('%s', (_, text, expected) => {
    expect(makeInert(text)).toBe(expected)
  })
})

describe('code is kept as it is', () => {
  test.each([
    ['a span', 'run `npm i @types/node` now'],
    ['a fence', 'a\n```\n@octocat fixes #1 <b>\n```\nb'],
    ['a fence of tildes', '~~~sh\n/lgtm\n~~~'],
    ['an e-mail address', 'mail a.b@example.org'],
    ['a comparison', 'if a < b'],
  ])('%s', (_, text) => {
    expect(makeInert(text)).toBe(text)
  })
})

test('a fence that is never closed protects nothing', () => {
  expect(makeInert('```\n@octocat')).toBe('```\n@ octocat')
})

test('D11: what does not fit is left out whole and said in the last line', () => {
  const text = joinBlocks(['a'.repeat(50), '', 'b'.repeat(100), 'c'], 150)
  expect(text).toBe(`${'a'.repeat(50)}\n\nCut at 150 characters; the rest is in the run's record.`)
})

test.each([
  ['CI is not switched off', 'done [skip ci]', 'done (skip ci)'],
  ['nor by another spelling', '[actions skip] ***NO_CI***', '(actions skip) NO_CI'],
  ['nobody signs', 'x\n\nSigned-off-by: A <a@b.c>', 'x\n\n- Signed-off-by: A &lt;a@b.c>'],
  ['checks are not skipped', 'x\n\n\nskip-checks: true', 'x\n\n\n- skip-checks: true'],
])('in a commit message %s', (_, text, expected) => {
  expect(makeInertForCommit(text)).toBe(expected)
})

describe('credentials do not go out', () => {
  const key = 'Q7-key-of-the-operator-XyZ012345678-9876543210'
  const spread = key.match(/.{1,9}/g) ?? []
  test('red first: one that nobody registered passes', () => {
    expect(makeInert(`run \`${key}\``)).toBe(`run \`${key}\``)
    registerSecret(key)
  })
  test('in code as in prose, in a commit message, and when only its shape is known', () => {
    expect(makeInert(`run \`${key}\`, or\n\`\`\`\n${key}\n\`\`\``)).toBe('run `[redacted]`, or\n```\n[redacted]\n```')
    expect(makeInertForCommit(`use ghp_${'a1B'.repeat(12)}`)).toBe('use [redacted]')
  })
  test('D04: spread over lines of one text, or over the blocks of one body: then none of it goes out', () => {
    expect(makeInert(spread.join('\n'))).toMatch(/^Withheld: /)
    expect(
      joinBlocks(
        spread.map(part => `\`${part}\``),
        10_000,
      ),
    ).toMatch(/^Withheld: /)
  })
})

describe('credentials that only come together in the filter do not go out', () => {
  const password = 'hunter2-Pw9'
  registerSecret(password)
  const credentials = { shaped: `ghp_${'a1B'.repeat(12)}`, registered: password }
  /** What the filter, or the eye, takes out of a text. */
  const joints = {
    'the mark of code': '\ufdd0',
    'another character that is none': '\ufdd1',
    'a marker of ours': '<!--grokbot:v1-->',
    'a marker with the mark of code in it': '<!--grok\ufdd0bot:v1-->',
    'a marker with a carriage return in it': '<!--\rgrokbot:v1-->',
    'a blank of no width': '\u200b',
    'a soft hyphen': '\u00ad',
    'a variation selector': '\ufe0f',
    'a tag': '\u{e0041}',
    'a byte order mark': '\ufeff',
    'a NUL': '\0',
    'a backspace': '\b',
    'all of them': '\u200b\ufdd0<!--grokbot:v1-->\u2060\0',
  }
  const filters = { prose: makeInert, tainted: (text: string) => makeInert(text, 'shown'), commit: makeInertForCommit }
  const readBy = (text: string) => text.replace(/\p{Default_Ignorable_Code_Point}|\p{Noncharacter_Code_Point}|\p{Cc}/gu, '')
  test.each(Object.entries(joints))('%s', (_, joint) => {
    for (const [name, credential] of Object.entries(credentials)) {
      for (const at of [2, 5, credential.length - 1]) {
        const text = `use ${credential.slice(0, at)}${joint}${credential.slice(at)} now`
        for (const [kind, filter] of Object.entries(filters)) {
          expect(readBy(filter(text)), `${name} at ${at} in ${kind}`).toBe('use [redacted] now')
        }
      }
    }
  })
  test('brackets of a link that is shown by its address', () => {
    expect(makeInert('hunter2[-Pw9](https://a.example)', 'shown')).toMatch(/^Withheld: /)
    // One that might be words is not looked for across other signs, and so must not come together.
    registerSecret('hunter-twoPw')
    expect(makeInert('hunter[-twoPw](https://a.example)', 'shown')).toBe('hunter[-twoPw] (https: //a.example)')
  })
  test('asterisks that are taken out of a commit message', () => {
    registerSecret('abcNO_CIdef')
    expect(makeInertForCommit('abc***NO_CI***def')).toMatch(/^Withheld: /)
  })
  test('and no other text loses what nobody sees', () => {
    const text = 'a family \u{1f468}\u200d\u{1f469} and \u2764\ufe0f'
    expect([makeInert(text), makeInertForCommit(text)]).toEqual([text, text])
  })
})

describe('the links of a session that a stranger may have steered', () => {
  test.each([
    ['say where they lead', '[Approve](https://evil.example/a?b=c)', 'Approve (`https://evil.example/a?b=c`)'],
    ['also with a title and in brackets', '[x](<https://evil.example/> "GitHub")', 'x (`https://evil.example/`)'],
    [
      'also when they stand alone',
      'see https://evil.example/x, or www.evil.example.',
      'see `https://evil.example/x`, or `www.evil.example`.',
    ],
    ['lead nowhere by reference', '[x][1]\n\n[1]: https://evil.example', '[x][1]\n\n[1]\\: `https://evil.example`'],
    ['are kept as they are in code', '`[x](https://evil.example)`', '`[x](https://evil.example)`'],
    ['are no links with another scheme either', '[x](javascript:alert(1))', 'x (javascript:alert(1))'],
  ])('%s', (_, text, expected) => {
    expect(makeInert(text, 'shown')).toBe(expected)
  })
  test('red: those of an untainted one stay links', () => {
    expect(makeInert('[Approve](https://evil.example)')).toBe('[Approve](https://evil.example)')
  })
})
