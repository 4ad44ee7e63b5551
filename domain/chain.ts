import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'

/**
 * The hash chain over a task's events. This format is frozen by `test/golden/ledger-v1.json`:
 *
 *   payloadHash = sha256("grokbot payload v1\n" ‖ salt(16 bytes) ‖ payload bytes)
 *   hash        = sha256("grokbot event v1\n" ‖ previous(32 bytes) ‖ JCS(header without hash))
 *   previous of the first event = sha256(task id, UTF-8)
 *
 * JCS is RFC 8785. All hashes are lower-case hex outside this file. The salt lies beside the payload and is erased with
 * it, so an erased payload can not be guessed from its hash.
 */
export type EventHeader = {
  task: string
  /** 1, 2, 3 … without a gap. */
  seq: number
  type: string
  version: number
  /** What caused the event: a stable id that is the same when the same thing is recorded again. */
  commandId: string
  /** Who caused it: `github:<user id>`, `cli`, `worker:<id>`, `model`. */
  actor: string
  /** The fencing number of the attempt that wrote it; 0 before the first attempt. */
  attempt: number
  /** UTC milliseconds. */
  at: number
  payloadHash: string
}

export type ChainedHeader = EventHeader & { hash: string }

export const saltBytes = 16

export function hashPayload(salt: Uint8Array, payload: Uint8Array): string {
  if (salt.byteLength !== saltBytes) throw new Error(`a payload salt has ${saltBytes} bytes, got ${salt.byteLength}`)
  return createHash('sha256').update('grokbot payload v1\n').update(salt).update(payload).digest('hex')
}

export function firstPrevious(task: string): string {
  return createHash('sha256').update(task, 'utf8').digest('hex')
}

export function hashEvent(previous: string, header: EventHeader): string {
  const { task, seq, type, version, commandId, actor, attempt, at, payloadHash } = header
  const canonical = canonicalize({ task, seq, type, version, commandId, actor, attempt, at, payloadHash })
  return createHash('sha256')
    .update('grokbot event v1\n')
    .update(Buffer.from(previous, 'hex'))
    .update(canonical as string, 'utf8')
    .digest('hex')
}

export type ChainFault = { seq: number; reason: 'sequence' | 'task' | 'hash' }

/** The first header that breaks the chain, or null. Pure; costs two hashes an event. */
export function findChainFault(task: string, headers: readonly ChainedHeader[]): ChainFault | null {
  let previous = firstPrevious(task)
  for (const [index, header] of headers.entries()) {
    if (header.seq !== index + 1) return { seq: index + 1, reason: 'sequence' }
    if (header.task !== task) return { seq: header.seq, reason: 'task' }
    if (hashEvent(previous, header) !== header.hash) return { seq: header.seq, reason: 'hash' }
    previous = header.hash
  }
  return null
}
