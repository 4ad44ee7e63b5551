import { sql } from 'kysely'
import { openStates } from './candidates.ts'
import type { TaskFilter, TaskRow } from './ledger.ts'
import { type Database, type Program, statement } from './statement.ts'
import type { Row } from './tables.ts'

export function* findTaskRow(taskId: string): Program<TaskRow | null> {
  const [row] = yield* selectTaskRow({ taskId })
  return row === undefined ? null : taskRow(row)
}

/** Newest first; the limit counts only those that fit all of what is given. */
export function* listTasks({ state, laneKey, needsWorker, limit }: TaskFilter): Program<TaskRow[]> {
  const given: Given = {
    ...(state === undefined || state === 'open' ? {} : { state }),
    ...(laneKey === undefined ? {} : { laneKey }),
    ...(needsWorker === undefined ? {} : { needsWorker: needsWorker ? (1 as const) : (0 as const) }),
  }
  return (yield* listingOf(Object.keys(given) as (keyof Given)[], state === 'open')({ ...given, limit })).map(taskRow)
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

type Given = { state?: TaskRow['state']; laneKey?: string; needsWorker?: 0 | 1 }
type Listing = ReturnType<typeof listing>
const listings = new Map<string, Listing>()

/** One statement for each set of conditions, made when it is first asked for. */
function listingOf(keys: readonly (keyof Given)[], isOpen: boolean): Listing {
  const name = [...keys, isOpen].join()
  const known = listings.get(name) ?? listing(keys, isOpen)
  listings.set(name, known)
  return known
}

function listing(keys: readonly (keyof Given)[], isOpen: boolean) {
  return statement<Given & { limit: number }, StoredRow>((database, argument) => {
    const all = isOpen ? tasks(database).where('state', 'in', openStates) : tasks(database)
    return keys
      .reduce((query, key) => query.where(key, '=', argument(key) as string), all)
      .orderBy('number', 'desc')
      .limit(argument('limit'))
  })
}
