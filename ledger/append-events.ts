import type { NewEvent } from '../domain/index.ts'
import { findEffect } from './effect-rows.ts'
import type { AppendBatch, AppendResult } from './ledger.ts'
import { assertLedger } from './ledger-assertion.ts'
import type { LedgerContext } from './ledger-context.ts'
import { findChainEnd, recordEvents } from './record-events.ts'
import { type Program, statement } from './statement.ts'
import type { Row } from './tables.ts'

type AppendRow = Pick<Row<'tasks'>, 'number' | 'taskId' | 'state' | 'attempts' | 'needsWorker' | 'erasedAt'>

/** Compare-and-swap on the last seq, fenced by the attempt's number; see the contract. */
export function* appendEvents(context: LedgerContext, batch: AppendBatch): Program<AppendResult> {
  const { taskId, attempt, expectedSeq, events } = batch
  const [task] = yield* selectForAppend({ taskId })
  assertLedger(task !== undefined, 'there is no such task', { taskId })
  assertLedger(attempt <= task.attempts, 'an attempt writes that was never made', { taskId, attempt, newest: task.attempts })
  const allowed = attempt === 0 ? yield* outsiderMayAppend(task, events) : attempt === task.attempts
  if (!allowed) return { kind: 'fenced', attempt: task.attempts }
  const end = yield* findChainEnd(task)
  if (end.lastSeq !== expectedSeq) return { kind: 'moved', lastSeq: end.lastSeq }
  assertAppendable(task, batch)
  const recorded = yield* recordEvents(context, end, batch, events)
  return { kind: 'appended', lastSeq: end.lastSeq + events.length, events: recorded }
}

const selectForAppend = statement<{ taskId: string }, AppendRow>((database, argument) =>
  database
    .selectFrom('tasks')
    .select(['number', 'taskId', 'state', 'attempts', 'needsWorker', 'erasedAt'])
    .where('taskId', '=', argument('taskId')),
)

/**
 * What the app's half and outside requests may write without being an attempt: a cancel before the end, the life of
 * effects they prepared themselves, and the end of a task that no worker ever takes.
 */
function* outsiderMayAppend(task: AppendRow, events: readonly NewEvent[]): Program<boolean> {
  for (const event of events) {
    const { type } = event
    if (type === 'effect.prepared') continue
    if (type === 'cancel.requested' && task.state !== 'ended') continue
    if (type === 'task.ended' && task.needsWorker === 0) continue
    if (type !== 'effect.dispatched' && type !== 'effect.settled') return false
    const effect = yield* findEffect(event.payload.effectId)
    // An effect that is not known yet is prepared in this very batch, or `applyEffectEvent` throws.
    if (effect !== null && effect.attempt !== 0) return false
  }
  return true
}

function assertAppendable(task: AppendRow, { taskId, events }: AppendBatch): void {
  assertLedger(events.length > 0, 'an append has events', { taskId })
  assertLedger(task.erasedAt === null, 'an erased task takes no events', { taskId })
  let ended = task.state === 'ended'
  for (const { type } of events) {
    assertLedger(type !== 'task.accepted' && type !== 'task.refused', 'only the first event accepts or refuses', { taskId, type })
    assertLedger(!ended || type.startsWith('effect.'), 'a task that ended takes only events of effects', { taskId, type })
    ended ||= type === 'task.ended'
  }
}
