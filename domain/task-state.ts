import type { Cell, EffectKind, Payload, TaskAccepted, TaskRefused, ToolCall } from './event.ts'
import type { Outcome } from './outcome.ts'

/**
 * What a task's events say when they are read in order: all a worker needs to go on with it and all a person needs to
 * see. Plain JSON. `foldTask` is the only thing that makes one.
 */
export type TaskState = {
  /** The newest event that is in here; 0 before the first. */
  seq: number
  lastAt: number
  /** True once a payload was met that had been erased: then the fields it would have filled are missing. */
  erased: boolean
  accepted: (TaskAccepted & { actor: string; at: number }) | null
  /** A command that was refused: only its reply is ever done. */
  refused: (TaskRefused & { actor: string; at: number }) | null
  attempts: AttemptState[]
  cancel: (Payload<'cancel.requested'> & { at: number }) | null
  workspace: Payload<'workspace.opened'> | null
  setup: Payload<'setup.settled'> | null
  session: SessionState | null
  taint: Payload<'taint.raised'>[]
  snapshot: Payload<'snapshot.taken'> | null
  change: Payload<'change.collected'> | null
  /** The newest result of each named check, by cell, in the order they first ran. */
  checks: Record<Cell, Payload<'check.settled'>[]>
  verdict: Payload<'change.judged'> | null
  commit: Payload<'commit.made'> | null
  /** By effect id, in the order they were prepared. */
  effects: Record<string, EffectState>
  outcome: (Payload<'task.ended'> & { outcome: Outcome; at: number }) | null
  spent: Spent
}

/** `quietMs`: how long nothing had been recorded before it. */
type AttemptState = Payload<'attempt.started'> & { attempt: number; at: number; quietMs: number }

export type SessionState = {
  started: Payload<'session.started'> | null
  /** The conversation after the prompts, in order. */
  turns: TurnState[]
  /** A request that was made and has no answer and no failure yet. After a crash it is the only one that is made again. */
  openRequest: Payload<'model.requested'> | null
  failures: Payload<'model.failed'>[]
  ended: Payload<'session.ended'> | null
}

export type TurnState = {
  turn: number
  /** Null only when it was erased. */
  answer: Payload<'model.answered'> | null
  /** One for each call of the answer, in its order. */
  calls: CallState[]
}

export type CallState = {
  call: ToolCall
  started: Payload<'tool.started'> | null
  /** Null with `started` set: the call was cut off, and only a read-only one may run again. */
  settled: Payload<'tool.settled'> | null
}

export type EffectPhase = 'prepared' | 'dispatched' | 'confirmed' | 'rejected' | 'unknown'

export type EffectState = {
  kind: EffectKind
  key: string
  state: EffectPhase
  /** How often it was dispatched. */
  tries: number
  intent: Record<string, unknown>
  remote: Record<string, unknown> | null
  reason: string
  foundByReadBack: boolean
  /** The attempt that prepared it; 0 is the app's half. */
  attempt: number
  preparedAt: number
  updatedAt: number
}

/**
 * Which state of an effect may follow which. A second `dispatched` is a new try after a read-back found nothing; it must
 * carry the next try number. `prepared → rejected` is an effect that was never sent because the facts had changed.
 */
export const effectTransitions: Record<EffectPhase, readonly EffectPhase[]> = {
  prepared: ['dispatched', 'rejected'],
  dispatched: ['dispatched', 'confirmed', 'rejected', 'unknown'],
  unknown: ['dispatched', 'confirmed', 'rejected'],
  confirmed: [],
  rejected: [],
}

type Spent = {
  inputTokens: number
  cachedTokens: number
  outputTokens: number
  costMicroUsd: number
  /** Answers and failures whose price is not known; they are not in `costMicroUsd`. */
  unpriced: number
  /** Answers and failures whose usage is our own high estimate. */
  estimated: number
  /** Requests cut off by a crash: nobody knows what they cost, so their reservation stays. */
  lostRequests: number
  lostTokens: number
}

export function emptyTaskState(): TaskState {
  return {
    seq: 0,
    lastAt: 0,
    erased: false,
    accepted: null,
    refused: null,
    attempts: [],
    cancel: null,
    workspace: null,
    setup: null,
    session: null,
    taint: [],
    snapshot: null,
    change: null,
    checks: { baseCodeBaseTests: [], newCodeBaseTests: [], baseCodeNewTests: [], newCodeNewTests: [] },
    verdict: null,
    commit: null,
    effects: {},
    outcome: null,
    spent: {
      inputTokens: 0,
      cachedTokens: 0,
      outputTokens: 0,
      costMicroUsd: 0,
      unpriced: 0,
      estimated: 0,
      lostRequests: 0,
      lostTokens: 0,
    },
  }
}
