import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import * as z from 'zod'
import type { ChainedHeader } from './chain.ts'
import type { DsseEnvelope } from './dsse.ts'
import { receiptTypes } from './event.ts'
import { outcomes } from './outcome.ts'
import { type ReceiptType, type Redaction, redactionLevels, redactPayload } from './redaction.ts'

/**
 * The proof of one task as one file: every event header, the payloads of the receipts, a manifest that says what they
 * are about, and a signed statement over the manifest. docs/receipts.md explains the format to people who check it.
 */
export const bundleFormat = 'grokbot bundle v1'

const hex = (length: number) => z.string().regex(new RegExp(`^[0-9a-f]{${length}}$`))
const sha = hex(40)
const digest = hex(64)
const seq = z.int().positive()

/** What a bundle says about the task as a whole; nothing of it is erased with the payloads. */
export const BundleFacts = z.strictObject({
  outcome: z.enum(outcomes),
  repository: z.strictObject({ id: z.int(), owner: z.string(), name: z.string(), visibility: z.enum(['public', 'private', 'internal']) }),
  /** The commit the task made; null when nothing was changed. */
  commit: z.strictObject({ sha, tree: sha, parent: sha }).nullable(),
  /** True: the commit was read back from the remote branch. False: it was delivered as a patch, or not at all. */
  pushed: z.boolean(),
})
export type BundleFacts = z.infer<typeof BundleFacts>

export const BundleManifest = z.strictObject({
  task: z.string().min(1),
  facts: BundleFacts,
  events: seq,
  /** The hash of the last event. */
  headHash: digest,
  redaction: z.enum(redactionLevels),
  /** The SHA-256 of each payload that is shown without its outputs: the chain can not vouch for those. */
  redacted: z.array(z.strictObject({ seq, sha256: digest })),
  /** The tombstone: since then none of the task's payloads exists any more. */
  erased: z.strictObject({ at: z.int().positive() }).nullable(),
  /** Who signed; null = unsigned. `publicKey` is base64 of its SPKI DER: for `integrity only`, it proves nothing by itself. */
  signer: z.strictObject({ keyId: digest, publicKey: z.string() }).nullable(),
  tool: z.strictObject({ name: z.literal('grokbot'), version: z.string() }),
})
export type BundleManifest = z.infer<typeof BundleManifest>

const Header: z.ZodType<ChainedHeader> = z.strictObject({
  task: z.string(),
  seq,
  type: z.string(),
  version: z.int(),
  commandId: z.string(),
  actor: z.string(),
  attempt: z.int(),
  at: z.int(),
  payloadHash: digest,
  hash: digest,
})

const BundlePayload = z.discriminatedUnion('kind', [
  /** The recorded bytes (`text` in UTF-8) and the salt: together they hash to the header's `payloadHash`. */
  z.strictObject({ kind: z.literal('full'), salt: hex(32), text: z.string() }),
  z.strictObject({ kind: z.literal('redacted'), text: z.string() }),
  /** Not a receipt: only its header is part of the bundle. */
  z.strictObject({ kind: z.literal('withheld') }),
  /** A receipt that was there and was erased with its task. */
  z.strictObject({ kind: z.literal('erased') }),
])
export type BundlePayload = z.infer<typeof BundlePayload>

export const BundleEntry = z.strictObject({ header: Header, payload: BundlePayload })
export type BundleEntry = z.infer<typeof BundleEntry>
export type Bundle = { manifest: BundleManifest; entries: readonly BundleEntry[]; envelope: DsseEnvelope | null }

/** The ledger's own entries; salt and payload are null together, when they were erased. */
export type LedgerEntry = { header: ChainedHeader; salt: Uint8Array | null; payload: Uint8Array | null }

export type BundleSource = {
  task: string
  facts: BundleFacts
  entries: readonly LedgerEntry[]
  redaction: Redaction
  erasedAt: number | null
  signer: BundleManifest['signer']
  toolVersion: string
}

/**
 * Pure, as the manifest is: the same ledger, facts, signer and version always give the same bundle. One after another: a
 * task has up to ten thousands of them, and whoever takes them can let others in between.
 */
export function* composeEntries({ entries, redaction, erasedAt }: Omit<BundleSource, 'signer'>): Generator<BundleEntry> {
  for (const entry of entries) yield composeEntry(entry, redaction, erasedAt !== null)
}

export function composeManifest(source: BundleSource, entries: readonly BundleEntry[]): BundleManifest {
  const { task, facts, redaction, erasedAt, signer } = source
  const last = entries.at(-1)
  if (last === undefined) throw new Error(`task ${task} has no events, so there is nothing to prove`)
  const redacted = entries.flatMap(({ header, payload }) =>
    payload.kind === 'redacted' ? [{ seq: header.seq, sha256: sha256(payload.text) }] : [],
  )
  return {
    task,
    facts,
    events: entries.length,
    headHash: last.header.hash,
    redaction,
    redacted,
    erased: erasedAt === null ? null : { at: erasedAt },
    signer,
    tool: { name: 'grokbot', version: source.toolVersion },
  }
}

function composeEntry({ header, salt, payload }: LedgerEntry, redaction: Redaction, erased: boolean): BundleEntry {
  if (!isReceiptType(header.type)) return { header, payload: { kind: 'withheld' } }
  if (erased) return { header, payload: { kind: 'erased' } }
  // Erasing takes a whole task. A hole in a task that is not erased is damage, and must not look like anything else.
  if (salt === null || payload === null) throw new Error(`the payload of event ${header.seq} of task ${header.task} is missing`)
  const text = Buffer.from(payload).toString('utf8')
  if (redaction === 'none') return { header, payload: { kind: 'full', salt: Buffer.from(salt).toString('hex'), text } }
  return { header, payload: { kind: 'redacted', text: JSON.stringify(redactPayload(header.type, JSON.parse(text))) } }
}

export function isReceiptType(type: string): type is ReceiptType {
  return (receiptTypes as readonly string[]).includes(type)
}

export const statementPayloadType = 'application/vnd.in-toto+json'
export const predicateType = 'urn:grokbot:receipts:v1'

/**
 * The in-toto Statement v1 that is signed, as bytes. Its subjects are the commit and its tree; a task without a commit
 * has its own record as the subject.
 */
export function statementOf(manifest: BundleManifest): Buffer {
  const { task, facts, events, headHash } = manifest
  const name = `${facts.repository.owner}/${facts.repository.name}`
  const subject = facts.commit
    ? [
        { name: `${name} commit`, digest: { gitCommit: facts.commit.sha } },
        { name: `${name} tree`, digest: { gitTree: facts.commit.tree } },
      ]
    : [{ name: `task ${task}`, digest: { sha256: headHash } }]
  const predicate = {
    task,
    outcome: facts.outcome,
    pushed: facts.pushed,
    events,
    headHash,
    manifest: { sha256: sha256(canonical(manifest)) },
  }
  return Buffer.from(canonical({ _type: 'https://in-toto.io/Statement/v1', subject, predicateType, predicate }))
}

/** The pieces of the file: one line for the manifest, one for each entry, one for the envelope, each as JCS (RFC 8785). */
export function* bundleLines({ manifest, entries, envelope }: Bundle): Generator<string> {
  yield `${firstLine.before}${canonical(manifest)}${firstLine.after}\n`
  for (const [index, entry] of entries.entries()) yield `${canonicalEntry(entry)}${index === entries.length - 1 ? '' : ','}\n`
  yield `${lastLine.before}${canonical(envelope)}${lastLine.after}\n`
}

/**
 * As `canonical`, many times faster: the keys stand in their order here, numbers are whole, and JavaScript writes
 * well-formed text as RFC 8785 does. A test holds both against each other.
 */
export function canonicalEntry({ header, payload }: BundleEntry): string {
  const { actor, at, attempt, commandId, hash, payloadHash, seq, task, type, version } = header
  const ordered = { actor, at, attempt, commandId, hash, payloadHash, seq, task, type, version }
  if (payload.kind === 'full')
    return JSON.stringify({ header: ordered, payload: { kind: payload.kind, salt: payload.salt, text: payload.text } })
  return JSON.stringify({
    header: ordered,
    payload: payload.kind === 'redacted' ? { kind: payload.kind, text: payload.text } : { kind: payload.kind },
  })
}

export const firstLine = { before: `{"format":${JSON.stringify(bundleFormat)},"manifest":`, after: ',"entries":[' }
export const lastLine = { before: '],"envelope":', after: '}' }

export function canonical(value: unknown): string {
  const text = canonicalize(value)
  if (text === undefined) throw new Error('a value without JSON form can not be part of a bundle')
  return text
}

export function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex')
}
