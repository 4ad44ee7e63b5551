import { sql } from 'kysely'
import type { Database } from './statement.ts'
import type { Row } from './tables.ts'

/** A task that may be claimed. */
export type Candidate = Pick<Row<'tasks'>, (typeof columns)[number]>

const columns = ['number', 'taskId', 'tenantKey', 'priority', 'attempts', 'owner', 'leaseUntil', 'recoveries'] as const

/** The states of tasks that have not ended, literal as in the partial index over them. */
export const openStates = (['waiting', 'running'] as const).map(state => sql.lit(state))

/** Tasks that wait for a worker, whether their lane is free or not. What is compared is literal, so that the partial index is used. */
export const queuedTasks = (database: Pick<Database, 'selectFrom'>) =>
  database.selectFrom('tasks').where('state', '=', sql.lit('waiting')).where('needsWorker', '=', sql.lit(1))

/** Those of them whose lane is free. */
export const waitingTasks = (database: Database) =>
  queuedTasks(database)
    .select(columns)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('tasks as other')
            .select('other.number')
            .where('other.state', '=', sql.lit('running'))
            .whereRef('other.laneKey', '=', 'tasks.laneKey'),
        ),
      ),
    )

export const runningTasks = (database: Database) => database.selectFrom('tasks').select(columns).where('state', '=', sql.lit('running'))
