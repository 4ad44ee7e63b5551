import { createHash, createPublicKey, verify } from 'node:crypto'
import { expect, it } from 'vitest'
import { fixedSigner } from './bundle-scene.ts'
import { goldenBundles } from './golden-bundle.ts'

/** What docs/receipts.md tells people to do, with nothing of ours but the public key. */
type File = {
  manifest: Record<string, unknown> & { task: string; headHash: string; signer: { keyId: string } }
  entries: { header: Record<string, string | number>; payload: { kind: string; salt?: string; text?: string } }[]
  envelope: { payload: string; payloadType: string; signatures: [{ sig: string }] }
}
const sha256 = (...parts: (string | Uint8Array)[]) => parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest('hex')

/** Sorted keys and no spaces: for values of ASCII text and whole numbers that is all there is to RFC 8785. */
function sorted(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(sorted).join(',')}]`
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${sorted(member)}`).join(',')}}`
}

it.each(['private', 'public', 'erased'] as const)('the %s bundle is checked by hand', name => {
  const { manifest, entries, envelope } = JSON.parse(goldenBundles[name].toString('utf8')) as File
  let previous = sha256(manifest.task)
  for (const { header, payload } of entries) {
    const { hash, ...rest } = header
    expect(sha256('grokbot event v1\n', Buffer.from(previous, 'hex'), sorted(rest))).toBe(hash)
    if (payload.kind === 'full') {
      expect(sha256('grokbot payload v1\n', Buffer.from(payload.salt ?? '', 'hex'), payload.text ?? '')).toBe(header['payloadHash'])
    }
    previous = String(hash)
  }
  expect(previous).toBe(manifest.headHash)
  const statement = Buffer.from(envelope.payload, 'base64')
  const signed = Buffer.concat([
    Buffer.from(`DSSEv1 ${envelope.payloadType.length} ${envelope.payloadType} ${statement.length} `),
    statement,
  ])
  const key = createPublicKey(fixedSigner(1).publicKeyPem)
  expect(verify(null, signed, key, Buffer.from(envelope.signatures[0].sig, 'base64'))).toBe(true)
  expect(JSON.parse(statement.toString('utf8')).predicate.manifest.sha256).toBe(sha256(sorted(manifest)))
  expect(sha256(key.export({ format: 'der', type: 'spki' }))).toBe(manifest.signer.keyId)
})
