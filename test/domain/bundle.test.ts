import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { composeEntries, composeManifest, receiptsOfBundle, type TaskAccepted, verifyBundle } from '../../domain/index.ts'
import { seededRandom } from '../ledger/random.ts'
import { payloads } from '../ledger/samples.ts'
import { type BundleScene, fixedSigner, openBundleScene, parsed, publicKey, taskId } from './bundle-scene.ts'
import { goldenBundles } from './golden-bundle.ts'

type Visibility = TaskAccepted['repository']['visibility']

async function inScene<T>(visibility: Visibility, work: (scene: BundleScene) => Promise<T>): Promise<T> {
  const scene = await openBundleScene(visibility)
  try {
    return await work(scene)
  } finally {
    await scene.close()
  }
}

const check = (bytes: Uint8Array) => {
  const verification = verifyBundle(bytes, [publicKey(1)])
  return verification.kind === 'intact' ? verification.signed : verification.fault
}
const kindsOf = (bytes: Uint8Array) => parsed(bytes).entries.map(({ header, payload }) => `${header.type} ${payload.kind}`)

describe('a bundle', () => {
  it('holds every header, and the payloads of the four kinds of receipts', async () => {
    expect(kindsOf(await inScene('private', scene => scene.write()))).toEqual([
      'task.accepted withheld',
      'attempt.started withheld',
      'model.requested withheld',
      'model.answered full',
      'tool.settled full',
      'tool.settled full',
      'model.answered full',
      'tool.settled full',
      'check.settled full',
      'check.settled full',
      'commit.made withheld',
      'effect.prepared withheld',
      'effect.dispatched withheld',
      'effect.settled full',
      'task.ended withheld',
    ])
  })
  it('has the same bytes whenever it is made from the same ledger', async () => {
    const twice = await inScene('private', async scene => [await scene.write(), await scene.write()])
    expect(twice[1]?.equals(twice[0] as Buffer)).toBe(true)
    expect((await inScene('private', scene => scene.write())).equals(twice[0] as Buffer)).toBe(true)
  })
  it('signs the commit, the tree, the head of the chain and the manifest as an in-toto statement', async () => {
    const { manifest, envelope } = parsed(await inScene('private', scene => scene.write()))
    expect(JSON.parse(Buffer.from(envelope?.payload ?? '', 'base64').toString())).toEqual({
      _type: 'https://in-toto.io/Statement/v1',
      subject: [
        { name: 'octo/pager commit', digest: { gitCommit: '1'.repeat(40) } },
        { name: 'octo/pager tree', digest: { gitTree: 'd'.repeat(40) } },
      ],
      predicateType: 'urn:grokbot:receipts:v1',
      predicate: {
        task: taskId,
        outcome: 'succeeded',
        pushed: true,
        events: 15,
        headHash: manifest.headHash,
        manifest: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      },
    })
  })
  it('is JSON for everybody else', async () => {
    const bytes = await inScene('private', scene => scene.write())
    expect(Object.keys(JSON.parse(bytes.toString('utf8')))).toEqual(['format', 'manifest', 'entries', 'envelope'])
  })
  it('is written unsigned, and says so, when the signer fails', async () => {
    const failing = { ...fixedSigner(1), sign: async () => Promise.reject(new Error('no KMS today')) }
    const bytes = await inScene('private', scene => scene.write({ signer: failing }))
    expect([check(bytes), parsed(bytes).manifest.signer]).toEqual(['unsigned', null])
  })
  it('is written unsigned when the signer signs with another key than it names', async () => {
    const bytes = await inScene('private', scene => scene.write({ signer: { ...fixedSigner(1), sign: fixedSigner(2).sign } }))
    expect(check(bytes)).toBe('unsigned')
  })
  it('is not made from a record with a hole in it', () => {
    const header = parsed(goldenBundles.private).entries.find(entry => entry.payload.kind === 'full')?.header
    if (header === undefined) throw new Error('the golden bundle has no receipt')
    const facts = parsed(goldenBundles.private).manifest.facts
    const source = { task: header.task, facts, redaction: 'none', erasedAt: null, signer: null, toolVersion: '0' } as const
    expect(() => [...composeEntries({ ...source, entries: [{ header, salt: null, payload: null }] })]).toThrow(/missing/)
    expect(() => composeManifest({ ...source, entries: [] }, [])).toThrow(/no events/)
  })
})

describe('a bundle of a public repository', () => {
  const outputs = [
    payloads['model.answered'].text,
    payloads['tool.settled'].result,
    payloads['tool.settled'].outputHash,
    'the output',
    payloads['check.settled'].output,
  ]

  it.each([
    ['private', true],
    ['internal', true],
    ['public', false],
  ] as const)('%s: outputs and salts are shown: %s', async (visibility, shown) => {
    const bytes = await inScene(visibility, scene => scene.write())
    const text = bytes.toString('utf8')
    expect(outputs.map(output => text.includes(JSON.stringify(JSON.stringify(output).slice(1, -1)).slice(1, -1)))).toEqual(
      outputs.map(() => shown),
    )
    expect(text.includes('"salt"')).toBe(shown)
    expect(check(bytes)).toBe('trusted')
  })
  it('still says what was asked, decided and proved', async () => {
    const full = receiptsOfBundle(parsed(await inScene('private', scene => scene.write())))
    const redacted = receiptsOfBundle(parsed(await inScene('public', scene => scene.write())))
    const withoutHash = full.map(receipt => ('outputHash' in receipt ? { ...receipt, outputHash: null } : receipt))
    // The visibility is part of the first event, so every hash after it is another.
    expect(redacted.map(receipt => ({ ...receipt, hash: '' }))).toEqual(withoutHash.map(receipt => ({ ...receipt, hash: '' })))
  })
  it('names the payload that was changed, though the chain can not vouch for it', async () => {
    const text = (await inScene('public', scene => scene.write())).toString('utf8')
    expect(check(Buffer.from(text.replace('\\"kind\\":\\"deny\\"', '\\"kind\\":\\"allow\\"')))).toMatchObject({
      seq: 8,
      reason: 'payload-hash',
    })
  })
})

describe('a bundle of an erased task', () => {
  it('has the headers, the facts and a tombstone, and nothing of any payload', async () => {
    const [before, after] = await inScene('private', async scene => [parsed(await scene.write()), await scene.erase()])
    const { manifest, entries } = parsed(after)
    expect(check(after)).toBe('trusted')
    expect(manifest).toEqual({ ...before?.manifest, erased: { at: 1_800_000_060_000 } })
    expect(entries.map(entry => entry.header)).toEqual(before?.entries.map(entry => entry.header))
    expect([...new Set(entries.map(({ payload }) => payload.kind))].sort()).toEqual(['erased', 'withheld'])
    for (const word of ['the output', 'I will look', 'npm test', 'salt']) expect(after.toString('utf8')).not.toContain(word)
  })
  it('has one erased receipt for each that was there', async () => {
    const bytes = await inScene('private', async scene => {
      await scene.write()
      return await scene.erase()
    })
    expect(receiptsOfBundle(parsed(bytes)).map(receipt => receipt.kind)).toEqual(Array(8).fill('erased'))
  })
  it('does not take a payload back from an older bundle', async () => {
    const [before, after] = await inScene('private', async scene => [await scene.write(), await scene.erase()])
    const lines = after?.toString('utf8').split('\n') ?? []
    lines[8] = before?.toString('utf8').split('\n')[8] ?? ''
    expect(check(Buffer.from(lines.join('\n')))).toMatchObject({ seq: 8, reason: 'payload-unexpected' })
  })
  it('does not exist when nothing had said what the task was about', async () => {
    await expect(inScene('private', scene => scene.erase())).rejects.toMatchObject({ code: 'ENOENT' })
  })
})

describe('the frozen bundles', () => {
  it.each(Object.entries(goldenBundles))('%s is intact, and is what today’s code writes, to the byte', (name, bytes) => {
    expect(check(bytes)).toBe(name === 'unsigned' ? 'unsigned' : 'trusted')
    expect(readFileSync(path.join(import.meta.dirname, '..', 'golden', `bundle-v1-${name}.json`)).equals(bytes)).toBe(true)
  })
  it.each(Object.entries(goldenBundles))('%s: no byte of it can be another', { timeout: 60_000 }, (_, bytes) => {
    const random = seededRandom(bytes.length)
    for (let count = 0; count < 100; count += 1) {
      const at = random(bytes.length)
      const changed = Buffer.from(bytes)
      changed[at] = (changed[at] as number) ^ (1 << random(8))
      const verification = verifyBundle(changed, null)
      expect(verification.kind === 'intact' && verification.signed !== 'unsigned').toBe(false)
    }
  })
})
