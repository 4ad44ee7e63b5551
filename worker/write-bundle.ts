import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { setImmediate } from 'node:timers/promises'
import {
  type Bundle,
  type BundleEntry,
  type BundleFacts,
  type BundleSource,
  bundleLines,
  composeEntries,
  composeManifest,
  preAuthEncoding,
  readBundle,
  readPublicKey,
  redactionOf,
  sealEnvelope,
  statementOf,
  statementPayloadType,
  type TaskState,
  verifySignature,
} from '../domain/index.ts'
import { foldRecorded, type Ledger } from '../ledger/index.ts'
import { crashpoint, type Logger } from '../telemetry/index.ts'
import { workerLimits } from './limits.ts'
import type { Signer } from './ports.ts'
import { replaceFile } from './replace-file.ts'
import { clearStale, markStale } from './stale-bundles.ts'
import { toolVersion } from './tool-version.ts'

export type BundlePorts = { ledger: Pick<Ledger, 'task' | 'readRecord' | 'readEvents'>; signer: Signer | null; logger: Logger }

export function bundlePath(taskDir: string): string {
  return path.join(taskDir, 'bundle.json')
}

/**
 * The proof of an ended task as one file, made from the ledger: the same ledger, key and version always give the same
 * bytes. Safe to repeat. A signer that fails costs the signature, never the record. `none`: the task was erased before
 * it had a bundle, so that nothing says what it was about. `known`: the task's state, of a caller who has it; reading it
 * again costs a long task's time twice. Others are let in between: this thread renews leases.
 * Another process may write the same one: whoever renames last looks whether the ledger has more by then, or was erased.
 */
export async function writeTaskBundle(
  taskId: string,
  taskDir: string,
  ports: BundlePorts,
  known: TaskState | null = null,
): Promise<'signed' | 'unsigned' | 'none'> {
  for (let round = 1; ; round += 1) {
    const written = await writeOnce(taskId, taskDir, ports, round === 1 ? known : null)
    const row = await ports.ledger.task(taskId)
    if (row === null || (row.lastSeq <= written.seq && row.erasedAt === written.erasedAt)) {
      await clearStale(taskDir, written.seq)
      return written.kind
    }
    await markStale(taskDir, row.lastSeq)
    if (round === workerLimits.bundleRoundsMax) return written.kind
  }
}

type Written = { kind: 'signed' | 'unsigned' | 'none'; seq: number; erasedAt: number | null }

async function writeOnce(taskId: string, taskDir: string, ports: BundlePorts, known: TaskState | null): Promise<Written> {
  const file = bundlePath(taskDir)
  const erasedAt = (await ports.ledger.task(taskId))?.erasedAt ?? null
  const { entries } = await ports.ledger.readRecord(taskId)
  const seq = entries.at(-1)?.header.seq ?? 0
  const facts = erasedAt === null ? factsOf(known ?? (await foldRecorded(ports.ledger, taskId))) : await factsBefore(file)
  if (facts === null) return { kind: 'none', seq, erasedAt }
  const redaction = redactionOf[facts.repository.visibility]
  const source = { task: taskId, facts, entries, redaction, erasedAt, toolVersion }
  const bundle = await signBundle(source, await inSlices(composeEntries(source)), ports)
  crashpoint('bundle.beforeWrite')
  await replaceFile(file, inPieces(bundleLines(bundle)))
  crashpoint('bundle.afterWrite')
  return { kind: bundle.envelope === null ? 'unsigned' : 'signed', seq, erasedAt }
}

function factsOf({ accepted, commit, outcome, effects }: TaskState): BundleFacts {
  if (accepted === null || outcome === null) throw new Error('a bundle needs a task that was accepted and has ended')
  const { id, owner, name, visibility } = accepted.repository
  return {
    outcome: outcome.outcome,
    repository: { id, owner, name, visibility },
    commit: commit && { sha: commit.sha, tree: commit.tree, parent: commit.parent },
    pushed: Object.values(effects).some(({ kind, state }) => kind === 'push' && state === 'confirmed'),
  }
}

/** Erasing takes the payloads these facts were read from; the bundle that was made before still has them. */
async function factsBefore(file: string): Promise<BundleFacts | null> {
  const bytes = await readFile(file).catch(nullIfAbsent)
  const read = bytes && readBundle(bytes)
  return read?.kind === 'read' ? read.bundle.manifest.facts : null
}

async function signBundle(
  source: Omit<BundleSource, 'signer'>,
  entries: readonly BundleEntry[],
  { signer, logger }: Pick<BundlePorts, 'signer' | 'logger'>,
): Promise<Bundle> {
  if (signer !== null) {
    const key = requiredKey(signer)
    const manifest = composeManifest({ ...source, signer: { keyId: key.keyId, publicKey: key.spki.toString('base64') } }, entries)
    const statement = statementOf(manifest)
    const signed = preAuthEncoding(statementPayloadType, statement)
    try {
      const signature = await signer.sign(signed)
      // A command that signs with another key, or other bytes, would give bundles that nobody can verify.
      if (!verifySignature(signed, signature, key)) throw new Error('the signature does not fit the signer’s public key')
      return { manifest, entries, envelope: sealEnvelope(statementPayloadType, statement, key.keyId, signature) }
    } catch (error) {
      logger.error({ error, task: source.task }, 'bundle is written unsigned')
    }
  }
  return { manifest: composeManifest({ ...source, signer: null }, entries), entries, envelope: null }
}

function requiredKey({ publicKeyPem }: Signer) {
  const key = readPublicKey(publicKeyPem)
  if (key === null) throw new Error('the signer has no Ed25519 public key')
  return key
}

const pieceCharacters = 262_144

async function inSlices<T>(items: Iterable<T>): Promise<T[]> {
  const taken: T[] = []
  let until = performance.now() + workerLimits.sliceMs
  for (const item of items) {
    taken.push(item)
    if (performance.now() < until) continue
    await setImmediate()
    until = performance.now() + workerLimits.sliceMs
  }
  return taken
}

/** Lines put together to pieces that are worth a write each; the writes are what lets others in. */
function* inPieces(lines: Iterable<string>): Generator<string> {
  let piece = ''
  for (const line of lines) {
    piece += line
    if (piece.length < pieceCharacters) continue
    yield piece
    piece = ''
  }
  if (piece !== '') yield piece
}

function nullIfAbsent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}
