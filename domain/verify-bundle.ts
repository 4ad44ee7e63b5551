import { type Bundle, type BundleEntry, type BundleManifest, isReceiptType, sha256, statementOf, statementPayloadType } from './bundle.ts'
import { findChainFault, hashPayload } from './chain.ts'
import { type DsseEnvelope, decodeBase64, type PublicKey, preAuthEncoding, readPublicKey, verifySignature } from './dsse.ts'
import { eventSchemas } from './event.ts'
import { migrateEvent } from './migrate-event.ts'
import { type BundleFault, bundleLimits, explain, faulty, nestsDeeper, parseJson, readBundle } from './read-bundle.ts'
import { type ReceiptType, redactedSchemas } from './redaction.ts'

export type Verification =
  /** `trusted`: signed by one of the keys that were given. `embedded`: by the key in the file itself, whoever made it. */
  { kind: 'intact'; bundle: Bundle; signed: 'trusted' | 'embedded' | 'unsigned' } | { kind: 'fault'; fault: BundleFault }

type Fault = { kind: 'fault'; fault: BundleFault }

/**
 * Checks a bundle from outside in and names the first thing that is wrong. Pure, offline, and never throws for what is in
 * the file. `keys` null: nobody said whom to trust.
 */
export function verifyBundle(bytes: Uint8Array, keys: readonly PublicKey[] | null): Verification {
  const read = readBundle(bytes)
  if (read.kind === 'fault') return read
  const { bundle } = read
  const fault = findEntryFault(bundle) ?? findManifestFault(bundle) ?? findSealFault(bundle) ?? findKeyFault(bundle, keys)
  if (fault !== null) return fault
  return { kind: 'intact', bundle, signed: bundle.envelope === null ? 'unsigned' : keys === null ? 'embedded' : 'trusted' }
}

/** The chain and the payloads, whichever breaks first. */
function findEntryFault({ manifest, entries }: Bundle): Fault | null {
  const broken = findChainFault(
    manifest.task,
    entries.map(({ header }) => header),
  )
  const until = broken === null ? entries.length : broken.seq - 1
  const digests = new Map(manifest.redacted.map(({ seq, sha256 }) => [seq, sha256]))
  for (const entry of entries.slice(0, until)) {
    const fault = findPayloadFault(entry, manifest, digests)
    if (fault !== null) return fault
  }
  if (broken === null) return null
  const { seq, reason } = broken
  if (reason === 'sequence') return faulty('entry', 'sequence', `event ${seq} is missing or stands in another place`, seq)
  if (reason === 'task') return faulty('entry', 'task', `event ${seq} belongs to another task`, seq)
  return faulty('entry', 'chain', `event ${seq} was changed: its hash does not follow from the events before it`, seq)
}

function findPayloadFault({ header, payload }: BundleEntry, manifest: BundleManifest, digests: ReadonlyMap<number, string>): Fault | null {
  const { seq, type } = header
  const bad = (reason: BundleFault['reason'], message: string) => faulty('entry', reason, `event ${seq}: ${message}`, seq)
  if (!isReceiptType(type)) return payload.kind === 'withheld' ? null : bad('payload-unexpected', 'a payload where the format has none')
  const expected = manifest.erased ? 'erased' : manifest.redaction === 'none' ? 'full' : 'redacted'
  if (payload.kind !== expected) {
    if (payload.kind === 'erased') return bad('forged-erasure', 'its payload is said to be erased, but the task was not')
    if (payload.kind === 'withheld') return bad('payload-missing', 'its payload was taken away')
    return bad('payload-unexpected', `its payload is ${payload.kind}, and ${expected} everywhere else`)
  }
  if (payload.kind === 'full') {
    const hash = hashPayload(Buffer.from(payload.salt, 'hex'), Buffer.from(payload.text, 'utf8'))
    if (hash !== header.payloadHash) return bad('payload-hash', 'its payload or its salt was changed')
    return findShapeFault(type, header.version, payload.text, false, bad)
  }
  if (payload.kind === 'redacted') {
    if (digests.get(seq) !== sha256(payload.text)) return bad('payload-hash', 'its payload was changed')
    return findShapeFault(type, header.version, payload.text, true, bad)
  }
  return null
}

type Bad = (reason: BundleFault['reason'], message: string) => Fault

function findShapeFault(type: ReceiptType, version: number, text: string, redacted: boolean, bad: Bad): Fault | null {
  const parsed = parseReceipt(type, version, text, redacted)
  return parsed.kind === 'parsed' ? null : bad('payload-shape', parsed.message)
}

export type ReceiptParsed = { kind: 'parsed'; payload: unknown } | { kind: 'unreadable'; message: string }

/** A payload as this version understands it, lifted from the version it was written in. */
export function parseReceipt(type: ReceiptType, version: number, text: string, redacted: boolean): ReceiptParsed {
  if (nestsDeeper(text, bundleLimits.depthMax)) return { kind: 'unreadable', message: 'its payload nests too deep' }
  const json = parseJson(text)
  if (json === undefined) return { kind: 'unreadable', message: 'its payload is not JSON' }
  const lifted = lift(type, version, json)
  if (lifted === undefined) return { kind: 'unreadable', message: `its payload has version ${version}, which this program does not know` }
  const parsed = (redacted ? redactedSchemas[type] : eventSchemas[type]).safeParse(lifted)
  return parsed.success
    ? { kind: 'parsed', payload: parsed.data }
    : { kind: 'unreadable', message: `its payload: ${explain(parsed.error)}` }
}

function lift(type: ReceiptType, version: number, payload: unknown): unknown {
  try {
    return migrateEvent({ type, version }, payload)
  } catch {
    // The only thing it throws is that the version is unknown.
    return undefined
  }
}

function findManifestFault({ manifest, entries }: Bundle): Fault | null {
  const { events, headHash, redacted } = manifest
  if (entries.length < events) {
    const seq = entries.length + 1
    return faulty('entry', 'events', `event ${seq} is missing: the manifest counts ${events}`, seq)
  }
  if (entries.length > events) return faulty('entry', 'events', `event ${events + 1} is one more than the manifest counts`, events + 1)
  if (entries.at(-1)?.header.hash !== headHash)
    return faulty('entry', 'head', `event ${events} is not the one the manifest ends with`, events)
  if (entries.filter(({ header }) => header.type === 'task.ended').length !== 1) {
    return faulty('manifest', 'no-end', 'the record does not hold exactly one end of the task')
  }
  const shown = entries.filter(({ payload }) => payload.kind === 'redacted').map(({ header }) => header.seq)
  if (shown.join() !== redacted.map(({ seq }) => seq).join())
    return faulty('manifest', 'shape', 'the manifest lists other payloads than there are')
  return null
}

/** The envelope against the manifest: whoever signed must have signed exactly this. */
function findSealFault({ manifest, envelope }: Bundle): Fault | null {
  const { signer } = manifest
  if (envelope === null)
    return signer === null ? null : faulty('envelope', 'signature-removed', 'the manifest names a signer, but the signature is gone')
  if (signer === null) return faulty('envelope', 'key-id', 'there is a signature, but the manifest names no signer')
  if (envelope.payloadType !== statementPayloadType)
    return faulty('envelope', 'payload-type', `the signed payload is no ${statementPayloadType}`)
  const statement = statementOf(manifest)
  const signed = decodeBase64(envelope.payload)
  if (signed === null || !signed.equals(statement)) return explainStatement(signed, statement)
  const embedded = readPublicKey(decodeBase64(signer.publicKey) ?? Buffer.alloc(0))
  if (embedded === null || embedded.keyId !== signer.keyId)
    return faulty('envelope', 'key-id', 'the embedded key is not the one the manifest names')
  return verifyEnvelope(envelope, embedded)
}

function verifyEnvelope({ payloadType, payload, signatures }: DsseEnvelope, key: PublicKey): Fault | null {
  const [signature] = signatures
  if (signature?.keyid !== key.keyId) return faulty('envelope', 'key-id', 'the signature names another key than the manifest')
  const bytes = decodeBase64(signature.sig)
  const signed = preAuthEncoding(payloadType, Buffer.from(payload, 'base64'))
  if (bytes === null || !verifySignature(signed, bytes, key)) return faulty('envelope', 'signature', 'the signature does not fit')
  return null
}

/** Another statement was signed than this file makes. Its subject is named first: that is what a reader cares about. */
function explainStatement(signed: Buffer | null, expected: Buffer): Fault {
  const theirs = subjectOf(signed?.toString('utf8') ?? '')
  if (theirs !== subjectOf(expected.toString('utf8')))
    return faulty('envelope', 'other-subject', 'the signed statement is about another commit or task')
  return faulty('envelope', 'other-statement', 'the signed statement is not about this manifest')
}

function subjectOf(text: string): string {
  const json = nestsDeeper(text, bundleLimits.depthMax) ? undefined : parseJson(text)
  return JSON.stringify((json as { subject?: unknown } | null | undefined)?.subject) ?? ''
}

function findKeyFault({ manifest, envelope }: Bundle, keys: readonly PublicKey[] | null): Fault | null {
  if (envelope === null || keys === null) return null
  const trusted = keys.find(({ keyId }) => keyId === manifest.signer?.keyId)
  if (trusted === undefined)
    return faulty('key', 'wrong-key', `it was signed by ${manifest.signer?.keyId}, which is none of the given keys`)
  return verifyEnvelope(envelope, trusted)
}
