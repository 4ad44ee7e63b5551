import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
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
  foldTask,
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
import type { Ledger } from '../ledger/index.ts'
import { crashpoint, type Logger } from '../telemetry/index.ts'
import { workerLimits } from './limits.ts'
import type { Signer } from './ports.ts'
import { replaceFile } from './replace-file.ts'
import { toolVersion } from './tool-version.ts'

export type BundlePorts = { ledger: Pick<Ledger, 'task' | 'readRecord' | 'readEvents'>; signer: Signer | null; logger: Logger }

export function bundlePath(taskDir: string): string {
  return path.join(taskDir, 'bundle.json')
}

/** False: there is none, or there are events that it was to hold and may not. */
export function isBundleCurrent(taskDir: string): boolean {
  return existsSync(bundlePath(taskDir)) && !existsSync(stalePath(taskDir))
}

/** Says, for whoever comes after this process, that the bundle is to be made again. Writing it takes that back. */
export async function markStale(taskDir: string): Promise<void> {
  await mkdir(taskDir, { recursive: true, mode: 0o700 })
  await writeFile(stalePath(taskDir), '', { mode: 0o600 })
}

function stalePath(taskDir: string): string {
  return `${bundlePath(taskDir)}.stale`
}

/**
 * The proof of an ended task as one file, made from the ledger: the same ledger, key and version always give the same
 * bytes. Safe to repeat. A signer that fails costs the signature, never the record. `none`: the task was erased before
 * it had a bundle, so that nothing says what it was about. `known`: the task's state, of a caller who has it; reading it
 * again costs a long task's time twice. Others are let in between: this thread renews leases.
 */
export async function writeTaskBundle(
  taskId: string,
  taskDir: string,
  ports: BundlePorts,
  known: TaskState | null = null,
): Promise<'signed' | 'unsigned' | 'none'> {
  const file = bundlePath(taskDir)
  const { entries } = await ports.ledger.readRecord(taskId)
  const erasedAt = (await ports.ledger.task(taskId))?.erasedAt ?? null
  const facts = erasedAt === null ? factsOf(known ?? foldTask(await ports.ledger.readEvents(taskId))) : await factsBefore(file)
  if (facts === null) return 'none'
  const redaction = redactionOf[facts.repository.visibility]
  const source = { task: taskId, facts, entries, redaction, erasedAt, toolVersion }
  const bundle = await signBundle(source, await inSlices(composeEntries(source)), ports)
  crashpoint('bundle.beforeWrite')
  await replaceFile(file, inPieces(bundleLines(bundle)))
  await rm(stalePath(taskDir), { force: true })
  crashpoint('bundle.afterWrite')
  return bundle.envelope === null ? 'unsigned' : 'signed'
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
