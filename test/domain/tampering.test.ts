import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Bundle,
  type BundleEntry,
  bundleLimits,
  bundleLines,
  type ChainedHeader,
  faultReasons,
  findChainFault,
  firstPrevious,
  hashEvent,
  hashPayload,
  statementOf,
  statementPayloadType,
  verifyBundle,
} from '../../domain/index.ts'
import { seededRandom } from '../ledger/random.ts'
import { type BundleScene, fixedSigner, openBundleScene, otherTaskId, parsed, publicKey, signAs } from './bundle-scene.ts'

let scene: BundleScene
let untouched: Buffer
let other: Buffer

beforeAll(async () => {
  scene = await openBundleScene()
  untouched = await scene.write()
  other = await scene.write({ taskId: otherTaskId })
})
afterAll(() => scene.close())

const trusted = [publicKey(1)]
const faultOf = (bytes: Uint8Array, keys: ReturnType<typeof publicKey>[] | null = trusted) => {
  const verification = verifyBundle(bytes, keys)
  return verification.kind === 'fault' ? verification.fault : verification.signed
}

describe('the untouched bundle', () => {
  it('is intact, and signed by the trusted key', () => {
    expect(faultOf(untouched)).toBe('trusted')
  })
  it('says no more than that it was not changed when nobody is trusted', () => {
    expect(faultOf(untouched, null)).toBe('embedded')
  })
  it('is intact when one of several published keys signed it', () => {
    expect(faultOf(untouched, [publicKey(3), publicKey(1), publicKey(2)])).toBe('trusted')
  })
  it('is unsigned without a signer, whoever is trusted', async () => {
    const unsigned = await scene.write({ signer: null })
    expect([faultOf(unsigned), faultOf(unsigned, null)]).toEqual(['unsigned', 'unsigned'])
  })
})

/** What somebody does to the file, what must be said of it (`where` or the event, and the reason), and how it is done. */
type Case = [name: string, found: string, tamper: () => string | Uint8Array]

const text = () => untouched.toString('utf8')
const lines = () => text().split('\n')
const swap = (from: string, to: string) => () => {
  if (!text().includes(from)) throw new Error(`the bundle does not hold ${from}`)
  return text().replace(from, to)
}
const inLine = (seq: number, from: string | RegExp, to: string) => () => {
  const changed = lines().map((line, index) => (index === seq ? line.replace(from, to) : line))
  if (changed.join('\n') === text()) throw new Error(`line ${seq} does not hold ${from}`)
  return changed.join('\n')
}
const edit = (change: (bundle: Bundle & { entries: BundleEntry[] }) => Partial<Bundle>) => () => {
  const bundle = parsed(untouched) as Bundle & { entries: BundleEntry[] }
  return [...bundleLines({ ...bundle, ...change(bundle) })].join('')
}
const editEntry = (seq: number, change: (entry: BundleEntry) => BundleEntry) =>
  edit(({ entries }) => ({ entries: entries.map(entry => (entry.header.seq === seq ? change(entry) : entry)) }))

/** The whole chain made anew from `seq` on, as somebody would who knows how it is made. */
function rechain(entries: readonly BundleEntry[], change: (header: ChainedHeader) => ChainedHeader): BundleEntry[] {
  let previous = firstPrevious(entries[0]?.header.task ?? '')
  return entries.map(({ header, payload }) => {
    const changed = change(header)
    previous = hashEvent(previous, changed)
    return { header: { ...changed, hash: previous }, payload }
  })
}

/** A signature by the trusted key over something else: what an honest signer once signed elsewhere. */
const sealedOver = (payloadType: string, payload: (bundle: Bundle) => Uint8Array) =>
  edit(bundle => ({
    envelope: {
      payloadType,
      payload: Buffer.from(payload(bundle)).toString('base64'),
      signatures: [{ keyid: publicKey(1).keyId, sig: signAs(1, payloadType, payload(bundle)) }],
    },
  }))

/** A record nobody signed, all of it made to fit: only the payload itself can tell. */
const forged = (payload: string, version = 1) =>
  edit(({ manifest, entries }) => {
    const salt = '0'.repeat(32)
    const payloadHash = hashPayload(Buffer.from(salt, 'hex'), Buffer.from(payload))
    const chain = rechain(entries, header => (header.seq === 8 ? { ...header, version, payloadHash } : header))
    const filled = chain.map(({ header, payload: before }) => ({
      header,
      payload: header.seq === 8 ? { kind: 'full' as const, salt, text: payload } : before,
    }))
    return { entries: filled, envelope: null, manifest: { ...manifest, signer: null, headHash: chain.at(-1)?.header.hash ?? '' } }
  })

const sigOf = (bundle: Bundle) => bundle.envelope?.signatures[0]?.sig ?? ''
const withSignature = (change: (sig: string, bundle: Bundle) => string) =>
  edit(bundle => ({
    envelope: bundle.envelope && { ...bundle.envelope, signatures: [{ keyid: publicKey(1).keyId, sig: change(sigOf(bundle), bundle) }] },
  }))

/** s + L is the other spelling of an Ed25519 signature: a verifier that takes it lets a file change and still pass. */
function addGroupOrder(sig: string): string {
  const order = 2n ** 252n + 27742317777372353535851937790883648493n
  const bytes = Buffer.from(sig, 'base64')
  let s = BigInt(`0x${Buffer.from(bytes.subarray(32)).reverse().toString('hex')}`) + order
  for (let at = 32; at < 64; at += 1, s >>= 8n) bytes[at] = Number(s & 255n)
  return bytes.toString('base64')
}

const cases: Case[] = [
  // The entries.
  ['one letter of a payload is another', 'event 6: payload-hash', inLine(6, 'the output', 'thf output')],
  [
    'a salt is another',
    'event 6: payload-hash',
    editEntry(6, entry => ({ ...entry, payload: { ...entry.payload, salt: '0'.repeat(32) } as BundleEntry['payload'] })),
  ],
  ['a denied call is made an allowed one', 'event 8: payload-hash', inLine(8, '\\"kind\\":\\"deny\\"', '\\"kind\\":\\"allow\\"')],
  [
    'two payloads are swapped with their salts',
    'event 9: payload-hash',
    edit(({ entries }) => ({
      entries: entries.map(entry => (entry.header.seq === 9 ? { ...entry, payload: entries[9]?.payload ?? entry.payload } : entry)),
    })),
  ],
  ['another actor is named', 'event 5: chain', inLine(5, 'worker:1', 'worker:2')],
  ['a time is another', 'event 5: chain', inLine(5, '"at":1800000004000', '"at":1800000004001')],
  [
    'a header is changed and its own hash made anew',
    'event 6: chain',
    edit(({ entries }) => ({
      entries: entries.map((entry, index) =>
        index === 4 ? (rechain(entries, header => (header.seq === 5 ? { ...header, actor: 'model' } : header))[4] ?? entry) : entry,
      ),
    })),
  ],
  [
    'a header is changed and all hashes after it made anew',
    'event 15: head',
    edit(({ entries }) => ({ entries: rechain(entries, header => (header.seq === 5 ? { ...header, actor: 'model' } : header)) })),
  ],
  [
    'the same, and the manifest says the new head',
    'envelope: other-statement',
    edit(({ manifest, entries }) => {
      const chain = rechain(entries, header => (header.seq === 5 ? { ...header, actor: 'model' } : header))
      return { entries: chain, manifest: { ...manifest, headHash: chain.at(-1)?.header.hash ?? '' } }
    }),
  ],
  ['an event is removed', 'event 8: sequence', edit(({ entries }) => ({ entries: entries.filter(({ header }) => header.seq !== 8) }))],
  [
    'two events are in another order',
    'event 9: sequence',
    edit(({ entries }) => ({ entries: entries.with(8, entries[9] as BundleEntry).with(9, entries[8] as BundleEntry) })),
  ],
  [
    'an event is there twice',
    'event 9: sequence',
    edit(({ entries }) => ({ entries: entries.toSpliced(8, 0, entries[7] as BundleEntry) })),
  ],
  [
    'an event of another task stands in its place',
    'event 8: task',
    edit(({ entries }) => ({ entries: entries.with(7, parsed(other).entries[7] as BundleEntry) })),
  ],
  ['the last events are cut off', 'event 14: events', edit(({ entries }) => ({ entries: entries.slice(0, -2) }))],
  [
    'the last events are cut off and the manifest counts fewer',
    'event 13: head',
    edit(({ manifest, entries }) => ({ entries: entries.slice(0, -2), manifest: { ...manifest, events: 13 } })),
  ],
  [
    'an unsigned record loses its end',
    'manifest: no-end',
    edit(({ manifest, entries }) => ({
      entries: entries.slice(0, -1),
      envelope: null,
      manifest: { ...manifest, events: 14, signer: null, headHash: entries[13]?.header.hash ?? '' },
    })),
  ],
  // Payloads that go or come.
  ['one payload is said to be erased', 'event 8: forged-erasure', editEntry(8, ({ header }) => ({ header, payload: { kind: 'erased' } }))],
  [
    'all payloads are said to be erased',
    'event 4: forged-erasure',
    edit(({ entries }) => ({
      entries: entries.map(({ header, payload }) => ({ header, payload: payload.kind === 'full' ? { kind: 'erased' } : payload })),
    })),
  ],
  [
    'the same with a tombstone nobody signed',
    'envelope: other-statement',
    edit(({ manifest, entries }) => ({
      manifest: { ...manifest, erased: { at: 1_800_000_060_000 } },
      entries: entries.map(({ header, payload }) => ({ header, payload: payload.kind === 'full' ? { kind: 'erased' } : payload })),
    })),
  ],
  ['a payload is taken away', 'event 8: payload-missing', editEntry(8, ({ header }) => ({ header, payload: { kind: 'withheld' } }))],
  [
    'a payload is shown in part',
    'event 8: payload-unexpected',
    editEntry(8, ({ header }) => ({ header, payload: { kind: 'redacted', text: '{}' } })),
  ],
  [
    'a payload is added where none belongs',
    'event 2: payload-unexpected',
    editEntry(2, ({ header }) => ({ header, payload: { kind: 'full', salt: '0'.repeat(32), text: '{}' } })),
  ],
  ['a payload is made up, of another shape', 'event 8: payload-shape', forged('{"turn":2}')],
  ['a payload is made up, and is no JSON', 'event 8: payload-shape', forged('turn 2')],
  ['a payload is made up, and nests without end', 'event 8: payload-shape', forged(`{"meta":${'['.repeat(50_000)}`)],
  ['a payload is made up, of a version nobody knows', 'event 8: payload-shape', forged('{}', 9)],
  // The file and its spelling.
  ['a key is repeated in an event', 'event 8: not-canonical', inLine(8, '"attempt":1', '"attempt":1,"attempt":1')],
  ['a key is repeated with another value first', 'event 8: not-canonical', inLine(8, '"seq":8', '"seq":9,"seq":8')],
  ['a key is repeated in the manifest', 'manifest: not-canonical', inLine(0, '"pushed":true', '"pushed":false,"pushed":true')],
  ['a key is repeated in the envelope', 'envelope: not-canonical', inLine(16, '"payload":"', '"payload":"","payload":"')],
  ['an event has an unknown field', 'event 8: shape', inLine(8, '"attempt":1', '"approved":true,"attempt":1')],
  ['an event has a prototype', 'event 8: shape', inLine(8, '{"header"', '{"__proto__":{"a":1},"header"')],
  ['the envelope has an unknown field', 'envelope: shape', inLine(16, '"signatures"', '"note":1,"signatures"')],
  ['a number is spelled in another way', 'event 8: not-canonical', inLine(8, '"attempt":1', '"attempt":1.0')],
  ['a letter is spelled as an escape', 'event 8: not-canonical', inLine(8, 'worker:1', 'worker\\u003a1')],
  ['half a surrogate pair is in a name', 'event 8: not-canonical', inLine(8, 'worker:1', 'worker\\ud800')],
  ['a space is added', 'event 8: not-canonical', inLine(8, '"header":', '"header": ')],
  [
    'the keys are in another order',
    'event 8: not-canonical',
    inLine(8, /^\{"header":(\{.*\}),"payload":(\{.*\})\},$/, '{"payload":$2,"header":$1},'),
  ],
  ['a comma is missing', 'event 8: layout', inLine(8, /,$/, '')],
  ['an event is no JSON', 'event 8: json', inLine(8, '"seq":8', '"seq":8}')],
  ['an event nests deeper than any can', 'event 8: depth', inLine(8, '"attempt":1', `"attempt":${'['.repeat(100_000)}`)],
  ['the file ends in the middle of an event', 'event 8: truncated', () => text().slice(0, text().indexOf('"seq":8'))],
  ['the file ends after an event', 'event 8: truncated', () => `${lines().slice(0, 8).join('\n')}\n`],
  ['the file ends in the envelope', 'envelope: layout', () => text().slice(0, -20)],
  ['the last byte is missing', 'file: truncated', () => text().slice(0, -1)],
  ['something follows the end', 'file: trailing-data', () => `${text()}{}`],
  ['an empty line follows the end', 'file: trailing-data', () => `${text()}\n`],
  ['two bundles are one file', 'file: trailing-data', () => text() + other],
  ['a byte order mark stands first', 'manifest: layout', () => `\ufeff${text()}`],
  ['the lines end as on Windows', 'manifest: layout', () => text().replaceAll('\n', '\r\n')],
  ['another program has formatted it', 'manifest: layout', () => JSON.stringify(JSON.parse(text()), null, 2)],
  ['it has a format nobody knows yet', 'manifest: layout', swap('grokbot bundle v1', 'grokbot bundle v2')],
  [
    'a byte is not UTF-8',
    'file: encoding',
    () => Buffer.concat([untouched.subarray(0, 2_000), Buffer.from([0xff]), untouched.subarray(2_000)]),
  ],
  ['it is nothing but line ends after its first line', 'event 1: layout', () => `${lines()[0]}${'\n'.repeat(20_000_000)}`],
  ['an event is a list of numbers without end', 'event 8: shape', inLine(8, '"attempt":1', `"attempt":[${'1,'.repeat(4_000_000)}1]`)],
  ['an event is longer than any can be', 'event 8: size', inLine(8, 'worker:1', 'w'.repeat(bundleLimits.lineCharactersMax))],
  ['it is empty', 'manifest: layout', () => ''],
  ['it is larger than any bundle', 'file: size', () => new Uint8Array(bundleLimits.fileBytesMax + 1)],
  // What it says about itself, and who says so.
  [
    'the outcome is another',
    'envelope: other-statement',
    edit(({ manifest }) => ({ manifest: { ...manifest, facts: { ...manifest.facts, outcome: 'failed' } } })),
  ],
  [
    'the commit is another',
    'envelope: other-subject',
    edit(({ manifest }) => ({
      manifest: {
        ...manifest,
        facts: { ...manifest.facts, commit: manifest.facts.commit && { ...manifest.facts.commit, sha: 'f'.repeat(40) } },
      },
    })),
  ],
  [
    'the tree is another',
    'envelope: other-subject',
    edit(({ manifest }) => ({
      manifest: {
        ...manifest,
        facts: { ...manifest.facts, commit: manifest.facts.commit && { ...manifest.facts.commit, tree: 'f'.repeat(40) } },
      },
    })),
  ],
  [
    'the parent is another',
    'envelope: other-statement',
    edit(({ manifest }) => ({
      manifest: {
        ...manifest,
        facts: { ...manifest.facts, commit: manifest.facts.commit && { ...manifest.facts.commit, parent: 'f'.repeat(40) } },
      },
    })),
  ],
  [
    'the repository is another',
    'envelope: other-subject',
    edit(({ manifest }) => ({
      manifest: { ...manifest, facts: { ...manifest.facts, repository: { ...manifest.facts.repository, name: 'other' } } },
    })),
  ],
  ['the signature of another task is put in', 'envelope: other-subject', edit(() => ({ envelope: parsed(other).envelope }))],
  [
    'the signed payload has another type, signed by the right key',
    'envelope: payload-type',
    sealedOver('application/json', ({ manifest }) => statementOf(manifest)),
  ],
  [
    'the type is changed after signing',
    'envelope: payload-type',
    edit(({ envelope }) => ({ envelope: envelope && { ...envelope, payloadType: 'application/vnd.in-toto+JSON' } })),
  ],
  ['another statement of the right key is put in', 'envelope: other-subject', sealedOver(statementPayloadType, () => Buffer.from('{}'))],
  ['the signed payload is no JSON', 'envelope: other-subject', sealedOver(statementPayloadType, () => Buffer.from('[[['))],
  [
    'the bare statement was signed, without its type',
    'envelope: signature',
    withSignature((_, { manifest }) => {
      const bare = statementOf(manifest)
      return signAs(1, '', bare)
    }),
  ],
  ['a bit of the signature is another', 'envelope: signature', withSignature(sig => `${sig.startsWith('A') ? 'B' : 'A'}${sig.slice(1)}`)],
  [
    'the signature is spelled in another way',
    'envelope: signature',
    withSignature(sig => sig.replace(/(.)==$/, (_, last: string) => `${nextLetter(last)}==`)),
  ],
  ['the signature is the other one of the same point', 'envelope: signature', withSignature(addGroupOrder)],
  ['the signature is empty', 'envelope: signature', withSignature(() => '')],
  [
    'there are two signatures',
    'envelope: shape',
    edit(({ envelope }) => ({
      envelope: envelope && { ...envelope, signatures: [...envelope.signatures, ...envelope.signatures] },
    })),
  ],
  [
    'the signature names another key',
    'envelope: key-id',
    edit(({ envelope }) => ({
      envelope: envelope && { ...envelope, signatures: [{ keyid: publicKey(2).keyId, sig: envelope.signatures[0]?.sig ?? '' }] },
    })),
  ],
  [
    'another key is embedded',
    'envelope: other-statement',
    edit(({ manifest }) => ({
      manifest: { ...manifest, signer: manifest.signer && { ...manifest.signer, publicKey: publicKey(2).spki.toString('base64') } },
    })),
  ],
  ['the signature is taken away', 'envelope: signature-removed', edit(() => ({ envelope: null }))],
  ['the manifest names no signer', 'envelope: key-id', edit(({ manifest }) => ({ manifest: { ...manifest, signer: null } }))],
]

function nextLetter(letter: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  return alphabet[alphabet.indexOf(letter) + 1] ?? ''
}

describe('a bundle in which', () => {
  it.each(cases)('%s: %s', (_, found, tamper) => {
    const made = tamper()
    const bytes = typeof made === 'string' ? Buffer.from(made) : Buffer.from(made.buffer, made.byteOffset, made.byteLength)
    expect(bytes.equals(untouched)).toBe(false)
    // Whoever trusts nobody must not see less.
    expect([shown(bytes, trusted), shown(bytes, null)]).toEqual([found, found])
  })
  it('shows every reason there is', () => {
    const elsewhere = ['wrong-key', 'no-commit', 'other-commit']
    const here = cases.map(([, found]) => found.split(': ')[1])
    expect([...new Set([...here, ...elsewhere])].sort()).toEqual([...faultReasons].sort())
  })
})

function shown(bytes: Uint8Array, keys: ReturnType<typeof publicKey>[] | null): string {
  const fault = faultOf(bytes, keys)
  if (typeof fault === 'string') return fault
  expect(fault.message).toMatch(/\S/)
  return `${fault.seq === null ? fault.where : `event ${fault.seq}`}: ${fault.reason}`
}

describe('what a reader without these rules would take', () => {
  const tampered = (name: string) => {
    const found = cases.find(([title]) => title === name)
    if (found === undefined) throw new Error(`no case ${name}`)
    return Buffer.from(found[2]()).toString('utf8')
  }
  // To `JSON.parse` these files say exactly what the untouched one says.
  it.each([
    'a key is repeated with another value first',
    'a key is repeated in the manifest',
    'a key is repeated in the envelope',
    'a number is spelled in another way',
    'a letter is spelled as an escape',
    'a space is added',
    'the keys are in another order',
    'another program has formatted it',
    'the lines end as on Windows',
    'an empty line follows the end',
  ])('%s', name => {
    expect(JSON.parse(tampered(name))).toEqual(JSON.parse(text()))
  })
  // To the chain alone nothing is missing in these: it vouches for headers only.
  it.each([
    'one payload is said to be erased',
    'all payloads are said to be erased',
    'a payload is taken away',
    'the same with a tombstone nobody signed',
  ])('%s', name => {
    const { manifest, entries } = parsed(Buffer.from(tampered(name)))
    const headers = entries.map(({ header }) => header)
    expect([findChainFault(manifest.task, headers), headers.at(-1)?.hash]).toEqual([null, parsed(untouched).manifest.headHash])
  })
  it('the signature is spelled in another way', () => {
    const sig = sigOf(parsed(Buffer.from(tampered('the signature is spelled in another way'))))
    expect(Buffer.from(sig, 'base64')).toEqual(Buffer.from(sigOf(parsed(untouched)), 'base64'))
  })
})

describe('a bundle somebody else signed', () => {
  it('is a fault for those who know the key, and proves nothing to others', async () => {
    const theirs = await scene.write({ signer: fixedSigner(2) })
    expect(faultOf(theirs)).toMatchObject({ where: 'key', seq: null, reason: 'wrong-key' })
    expect(faultOf(theirs, null)).toBe('embedded')
  })
  it('is not saved by naming the trusted key', async () => {
    const theirs = parsed(await scene.write({ signer: fixedSigner(2) }))
    const ours = parsed(untouched).manifest.signer
    const lie = [...bundleLines({ ...theirs, manifest: { ...theirs.manifest, signer: ours } })].join('')
    expect(faultOf(Buffer.from(lie))).toMatchObject({ reason: 'other-statement' })
  })
  it('is a fault when no key is trusted at all', () => {
    expect(faultOf(untouched, [])).toMatchObject({ where: 'key', reason: 'wrong-key' })
  })
})

describe('any change of any byte', () => {
  const positions = 2_000
  it(`is found: ${positions} seeded places, another byte each`, { timeout: 120_000 }, () => {
    const random = seededRandom(20_261_130)
    const accepted: number[] = []
    for (let count = 0; count < positions; count += 1) {
      const at = random(untouched.length)
      const bytes = Buffer.from(untouched)
      bytes[at] = (bytes[at] as number) ^ (1 + random(255))
      // Without a key, so that nothing but the file itself can tell.
      if (verifyBundle(bytes, null).kind === 'intact') accepted.push(at)
    }
    expect(accepted).toEqual([])
  })
  it('is found when bytes are cut out, doubled or moved, and never throws', { timeout: 120_000 }, () => {
    const random = seededRandom(7)
    for (let count = 0; count < 120; count += 1) {
      const [from, length, to] = [random(untouched.length), 1 + random(300), random(untouched.length)]
      const piece = untouched.subarray(from, from + length)
      const without = Buffer.concat([untouched.subarray(0, from), untouched.subarray(from + length)])
      const moved = Buffer.concat([without.subarray(0, to), piece, without.subarray(to)])
      const doubled = Buffer.concat([untouched.subarray(0, to), piece, untouched.subarray(to)])
      for (const bytes of [without, moved, doubled]) {
        if (!bytes.equals(untouched)) expect(verifyBundle(bytes, null).kind).toBe('fault')
      }
    }
  })
})
