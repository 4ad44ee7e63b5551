import type { ProgressUpdate, SessionResult, SessionStart } from '../agent/index.ts'
import type { ModelEndpoint } from '../config-schema/index.ts'
import type { TreePlace } from './make-tree.ts'

/**
 * Everything that crosses into a session's thread, as plain data. No function crosses. Cancel goes in as a message.
 */
export type SessionOrder = {
  taskId: string
  attempt: number
  dataDir: string
  start: Omit<SessionStart, 'recorded'>
  endpoint: ModelEndpoint
  place: TreePlace
  /** The tree after setup: what a session starts from. */
  baselineTree: string
  poolSize: number
  /** Host folder of home, tmp and outputs: the same that setup used. */
  runDir: string
  crashpoint: string | null
}

/** `why` is what the session is stopped for, as a constant: an error's text says nothing to a program. */
export type ToSession =
  /** The first one, once. `secrets`: what the thread must never let out; it has no use for them. */
  | { kind: 'order'; order: SessionOrder; secrets: readonly string[] }
  | { kind: 'cancel'; why: 'cancelled' | 'hand-over' }
  /** There will be no order. */
  | { kind: 'leave' }

export type FromSession =
  | { kind: 'progress'; update: ProgressUpdate }
  | { kind: 'ended'; result: SessionResult }
  /** The session itself broke: a bug of ours or a broken ledger. */
  | { kind: 'failed'; message: string; stack: string }
