import { sql } from 'kysely'
import type { NewEvent } from '../domain/index.ts'
import { openStates } from './candidates.ts'
import type { LaneCancel } from './ledger.ts'
import type { LedgerContext } from './ledger-context.ts'
import { findChainEnd, recordEvents } from './record-events.ts'
import { type Database, type Program, statement } from './statement.ts'
import type { Row } from './tables.ts'

/** Asks the tasks of a lane to end, each as if by an append of its own, all or none. Whoever was asked before is not asked again. */
export function* cancelLane(context: LedgerContext, request: LaneCancel): Program<string[]> {
  const { laneKey, verb, acceptedBefore = Number.MAX_SAFE_INTEGER, cancel, actor, at } = request
  const lane = { laneKey, acceptedBefore, limit: context.limits.laneCancelsMax }
  const open = yield* verb === undefined ? selectOpen(lane) : selectOpenOfVerb({ ...lane, verb })
  for (const task of open) {
    const event: NewEvent = { type: 'cancel.requested', commandId: `${task.taskId}:${cancel.kind ?? 'cancel'}`, payload: cancel }
    yield* recordEvents(context, yield* findChainEnd(task), { actor, attempt: 0, at }, [event])
  }
  return open.map(({ taskId }) => taskId)
}

type Open = Pick<Row<'tasks'>, 'number' | 'taskId'>
type Lane = { laneKey: string; acceptedBefore: number; limit: number }

/** A task that needs no worker only has to answer somebody: it is left alone. */
const openOfLane = (database: Database) =>
  database
    .selectFrom('tasks')
    .select(['number', 'taskId'])
    .where('state', 'in', openStates)
    .where('needsWorker', '=', sql.lit(1))
    .where('cancelRequestedAt', 'is', null)
    .orderBy('number')

const selectOpen = statement<Lane, Open>((database, argument) =>
  openOfLane(database)
    .where('laneKey', '=', argument('laneKey'))
    .where('acceptedAt', '<', argument('acceptedBefore'))
    .limit(argument('limit')),
)

const selectOpenOfVerb = statement<Lane & { verb: string }, Open>((database, argument) =>
  openOfLane(database)
    .where('laneKey', '=', argument('laneKey'))
    .where('acceptedAt', '<', argument('acceptedBefore'))
    .where('verb', '=', argument('verb'))
    .limit(argument('limit')),
)
