import { sql } from 'kysely'
import { openStates } from './candidates.ts'
import type { RunsAhead } from './ledger.ts'
import { type Database, type Program, statement } from './statement.ts'
import type { Row } from './tables.ts'

/** Null: there is no such task, or it does not wait for a worker. */
export function* runsAhead(taskId: string): Program<RunsAhead | null> {
  const [task] = yield* selectWaiting({ taskId })
  if (task === undefined) return null
  const { number, priority, laneKey, repository } = task
  const [lane] = yield* countAheadInLane({ number, priority, laneKey })
  const [all] = yield* countAheadInRepository({ number, priority, repository })
  return { lane: lane?.count ?? 0, repository: all?.count ?? 0 }
}

type Waiting = Pick<Row<'tasks'>, 'number' | 'priority' | 'laneKey' | 'repository'>

const selectWaiting = statement<{ taskId: string }, Waiting>((database, argument) =>
  database
    .selectFrom('tasks')
    .select(['number', 'priority', 'laneKey', 'repository'])
    .where('taskId', '=', argument('taskId'))
    .where('state', '=', 'waiting')
    .where('needsWorker', '=', 1),
)

type Place = { number: number; priority: number }

/** What runs, and what waits and comes first; one of higher priority that is accepted later may still get in between. */
const ahead = (database: Database, { number, priority }: Place) =>
  database
    .selectFrom('tasks')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('state', 'in', openStates)
    .where('needsWorker', '=', sql.lit(1))
    .where(({ eb, or, and }) =>
      or([
        eb('state', '=', sql.lit('running')),
        eb('priority', '<', priority),
        and([eb('priority', '=', priority), eb('number', '<', number)]),
      ]),
    )

const countAheadInLane = statement<Place & { laneKey: string }, { count: number }>((database, argument) =>
  ahead(database, { number: argument('number'), priority: argument('priority') }).where('laneKey', '=', argument('laneKey')),
)

const countAheadInRepository = statement<Place & { repository: string }, { count: number }>((database, argument) =>
  ahead(database, { number: argument('number'), priority: argument('priority') }).where('repository', '=', argument('repository')),
)
