import { createHash, createPrivateKey, sign } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Bundle, type NewEvent, preAuthEncoding, readBundle, readPublicKey, type TaskAccepted } from '../../domain/index.ts'
import { type Ledger, openSqliteLedger } from '../../ledger/index.ts'
import { silentLogger } from '../../telemetry/index.ts'
import { eraseTaskFiles } from '../../worker/erase-task-files.ts'
import type { Signer } from '../../worker/ports.ts'
import { bundlePath, writeTaskBundle } from '../../worker/write-bundle.ts'
import { accepted, claimOptions, eventOf, startedAt, taskOf } from '../ledger/samples.ts'

/** Test keys, fixed so that bundles are the same on every machine: Ed25519 private keys in PKCS#8 from a counted seed. */
export function fixedKey(count: number) {
  const seed = createHash('sha256').update(`grokbot test key ${count}`).digest()
  return createPrivateKey({
    key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]),
    format: 'der',
    type: 'pkcs8',
  })
}

export function fixedSigner(count: number): Signer {
  const key = fixedKey(count)
  const pub = publicKey(count)
  return {
    keyId: pub.keyId,
    publicKeyPem: pub.key.export({ format: 'pem', type: 'spki' }).toString(),
    sign: async bytes => sign(null, bytes, key),
  }
}

export function publicKey(count: number) {
  const pem = fixedKey(count).export({ format: 'pem', type: 'pkcs8' }).toString()
  const read = readPublicKey(pem)
  if (read === null) throw new Error('the test key is no key')
  return read
}

/** Signs other bytes than the bundle's own statement, as somebody with the key could. */
export function signAs(count: number, payloadType: string, payload: Uint8Array): string {
  return sign(null, preAuthEncoding(payloadType, payload), fixedKey(count)).toString('base64')
}

export type BundleScene = {
  dataDir: string
  ledger: Ledger
  /** The bytes of the task's bundle, as the worker writes them. */
  write(options?: { signer?: Signer | null; taskId?: string }): Promise<Buffer>
  erase(signer?: Signer | null): Promise<Buffer>
  close(): Promise<void>
}

export const taskId = '01J0BUNDLE0000000000000001'
export const otherTaskId = '01J0BUNDLE0000000000000002'

/** The commit the first task makes, where another than the sample's is wanted. */
type Made = { sha?: string; tree?: string; parent?: string }

/** A real SQLite ledger with two ended tasks: the second pushed another commit. */
export async function openBundleScene(
  visibility: TaskAccepted['repository']['visibility'] = 'private',
  made: Made = {},
): Promise<BundleScene> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'grokbot-bundle-'))
  let salts = 0
  const salt = () => {
    salts += 1
    return createHash('sha256').update(`salt ${salts}`).digest().subarray(0, 16)
  }
  const ledger = openSqliteLedger({ dataDir, durability: 'process', clock: () => startedAt + 60_000, salt })
  await recordTask(ledger, taskId, visibility, eventsOf(taskId, { sha: '1'.repeat(40), ...made }))
  await recordTask(ledger, otherTaskId, visibility, eventsOf(otherTaskId, { sha: '2'.repeat(40) }))
  const dirOf = (id: string) => path.join(dataDir, 'tasks', id)
  return {
    dataDir,
    ledger,
    async write({ signer = fixedSigner(1), taskId: id = taskId } = {}) {
      await writeTaskBundle(id, dirOf(id), { ledger, signer, logger: silentLogger })
      return readFileSync(bundlePath(dirOf(id)))
    },
    async erase(signer = fixedSigner(1)) {
      await ledger.eraseTask(taskId, 'mona')
      await eraseTaskFiles(taskId, dirOf(taskId), { ledger, signer, logger: silentLogger })
      return readFileSync(bundlePath(dirOf(taskId)))
    },
    async close() {
      await ledger.close()
      rmSync(dataDir, { recursive: true })
    },
  }
}

async function recordTask(ledger: Ledger, id: string, visibility: TaskAccepted['repository']['visibility'], events: NewEvent[]) {
  const payload = { ...accepted, repository: { ...accepted.repository, visibility } }
  await ledger.acceptTask(taskOf(id, { first: { type: 'task.accepted', payload } }))
  const claim = await ledger.claimTask(id, claimOptions())
  if (claim === null) throw new Error('the task could not be claimed')
  for (const [index, event] of events.entries()) {
    await ledger.append({ ...claim, actor: 'worker:1', at: startedAt + 1000 * (index + 1), expectedSeq: index + 1, events: [event] })
  }
}

/** Seq 2 on, as a run writes them: two turns with two calls, two cells, a push and its end. */
function eventsOf(id: string, made: Made & { sha: string }): NewEvent[] {
  const effectId = `${id}:push:1`
  const push = { effectId, kind: 'push' as const, key: 'push-1', intent: { branch: 'grok/fix-12' } }
  const denied = { kind: 'deny', rule: 'net-none', reason: 'no network' } as const
  const command = { version: 1, name: 'run_terminal_command', kind: 'execute', input: { command: 'npm test' } }
  const sandbox = { engine: 'bubblewrap', state: 'enforced' as const, profile: 'workspace', missing: [] }
  const ran = {
    name: 'run_terminal_command',
    kind: 'execute',
    readOnly: false,
    meta: command,
    exitCode: 1,
    sandbox,
    hosts: ['registry.example:443'],
  }
  return [
    eventOf('attempt.started'),
    eventOf('model.requested'),
    eventOf('model.answered'),
    eventOf('tool.settled', {}, 'call-1'),
    eventOf('tool.settled', { ...ran, callId: 'call_1', result: 'exit: 1\nthe output' }, 'call-2'),
    eventOf('model.answered', { turn: 2, text: 'Done \ud83d\ude80.', toolCalls: [] }, 'answer-2'),
    eventOf('tool.settled', { turn: 2, callId: 'call_2', name: 'fetch', decision: denied, status: 'denied' }, 'call-3'),
    eventOf('check.settled', { cell: 'baseCodeBaseTests', exitCode: 1, counts: { passed: 3, failed: 1, skipped: 0 } }, 'check-1'),
    eventOf('check.settled', { cell: 'newCodeNewTests' }, 'check-2'),
    eventOf('commit.made', made),
    eventOf('effect.prepared', push),
    eventOf('effect.dispatched', { effectId }),
    eventOf('effect.settled', { effectId, remote: { branch: 'grok/fix-12', sha: made.sha } }),
    eventOf('task.ended'),
  ]
}

export function parsed(bytes: Uint8Array): Bundle {
  const read = readBundle(bytes)
  if (read.kind === 'fault') throw new Error(`not a bundle: ${read.fault.message}`)
  return read.bundle
}
