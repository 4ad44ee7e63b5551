import { sql } from 'kysely'
import type { TaskRow } from './ledger.ts'
import { type Database, type Program, statement } from './statement.ts'
import type { Row } from './tables.ts'

export function* findTaskRow(taskId: string): Program<TaskRow | null> {
  const [row] = yield* selectTaskRow({ taskId })
  return row === undefined ? null : taskRow(row)
}

/** Newest first. */
export function* listTasks(filter: {
  state?: TaskRow['state']
  laneKey?: string
  needsWorker?: boolean
  limit: number
}): Program<TaskRow[]> {
  const { state, laneKey, limit } = filter
  if (filter.needsWorker !== undefined) {
    const needsWorker = filter.needsWorker ? 1 : 0
    const rows = yield* state === undefined ? tasksByWorker({ needsWorker, limit }) : tasksOfStateByWorker({ state, needsWorker, limit })
    return rows.map(taskRow).filter(row => laneKey === undefined || row.laneKey === laneKey)
  }
  if (state !== undefined && laneKey !== undefined) return (yield* tasksOfStateAndLane({ state, laneKey, limit })).map(taskRow)
  if (state !== undefined) return (yield* tasksOfState({ state, limit })).map(taskRow)
  if (laneKey !== undefined) return (yield* tasksOfLane({ laneKey, limit })).map(taskRow)
  return (yield* allTasks({ limit })).map(taskRow)
}

const columns = [
  'taskId',
  'state',
  'outcome',
  'verb',
  'repository',
  'laneKey',
  'needsWorker',
  'acceptedAt',
  'endedAt',
  'deadlineAt',
  'attempts',
  'owner',
  'cancelRequestedAt',
  'erasedAt',
] as const

type StoredRow = Pick<Row<'tasks'>, (typeof columns)[number]> & { lastSeq: number | null }

function taskRow({ needsWorker, outcome, lastSeq, ...row }: StoredRow): TaskRow {
  return { ...row, outcome: outcome as TaskRow['outcome'], needsWorker: needsWorker === 1, lastSeq: lastSeq ?? 0 }
}

const tasks = (database: Database) =>
  database
    .selectFrom('tasks')
    .select(columns)
    .select(({ selectFrom }) =>
      selectFrom('events')
        .select('seq')
        .whereRef('events.task', '=', 'tasks.number')
        .orderBy('seq', 'desc')
        .limit(sql.lit(1))
        .as('lastSeq'),
    )

const selectTaskRow = statement<{ taskId: string }, StoredRow>((database, argument) =>
  tasks(database).where('taskId', '=', argument('taskId')),
)

const allTasks = statement<{ limit: number }, StoredRow>((database, argument) =>
  tasks(database).orderBy('number', 'desc').limit(argument('limit')),
)

const tasksOfState = statement<{ state: TaskRow['state']; limit: number }, StoredRow>((database, argument) =>
  tasks(database).where('state', '=', argument('state')).orderBy('number', 'desc').limit(argument('limit')),
)

const tasksByWorker = statement<{ needsWorker: 0 | 1; limit: number }, StoredRow>((database, argument) =>
  tasks(database).where('needsWorker', '=', argument('needsWorker')).orderBy('number', 'desc').limit(argument('limit')),
)

const tasksOfStateByWorker = statement<{ state: TaskRow['state']; needsWorker: 0 | 1; limit: number }, StoredRow>((database, argument) =>
  tasks(database)
    .where('state', '=', argument('state'))
    .where('needsWorker', '=', argument('needsWorker'))
    .orderBy('number', 'desc')
    .limit(argument('limit')),
)

const tasksOfLane = statement<{ laneKey: string; limit: number }, StoredRow>((database, argument) =>
  tasks(database).where('laneKey', '=', argument('laneKey')).orderBy('number', 'desc').limit(argument('limit')),
)

const tasksOfStateAndLane = statement<{ state: TaskRow['state']; laneKey: string; limit: number }, StoredRow>((database, argument) =>
  tasks(database)
    .where('state', '=', argument('state'))
    .where('laneKey', '=', argument('laneKey'))
    .orderBy('number', 'desc')
    .limit(argument('limit')),
)
