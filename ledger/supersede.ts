import { sql } from 'kysely'
import type { NewEvent } from '../domain/index.ts'
import { openStates } from './candidates.ts'
import type { NewTask } from './ledger.ts'
import type { LedgerContext } from './ledger-context.ts'
import { findChainEnd, recordEvents } from './record-events.ts'
import { type Database, type Program, statement } from './statement.ts'
import type { Row } from './tables.ts'

/**
 * Asks the tasks that a newer one makes needless to end, each as if by an append of its own. Whoever was asked before is not
 * asked again, and what needs no worker only has to answer somebody: it is left alone.
 */
export function* supersede(context: LedgerContext, { laneKey, first, actor, acceptedAt, supersedes }: NewTask): Program<void> {
  if (supersedes === undefined) return
  const limit = context.limits.laneCancelsMax
  for (const task of yield* selectOpen({ laneKey, verb: first.payload.command.verb, limit })) {
    const payload = { ...supersedes, kind: 'superseded' as const }
    const event: NewEvent = { type: 'cancel.requested', commandId: `${task.taskId}:superseded`, payload }
    yield* recordEvents(context, yield* findChainEnd(task), { actor, attempt: 0, at: acceptedAt }, [event])
  }
}

type Open = Pick<Row<'tasks'>, 'number' | 'taskId'>

const selectOpen = statement<{ laneKey: string; verb: string; limit: number }, Open>((database: Database, argument) =>
  database
    .selectFrom('tasks')
    .select(['number', 'taskId'])
    .where('state', 'in', openStates)
    .where('needsWorker', '=', sql.lit(1))
    .where('cancelRequestedAt', 'is', null)
    .where('laneKey', '=', argument('laneKey'))
    .where('verb', '=', argument('verb'))
    .orderBy('number')
    .limit(argument('limit')),
)
