import { sql } from 'kysely'
import { queuedTasks } from './candidates.ts'
import type { QueueFigures } from './ledger.ts'
import type { LedgerContext } from './ledger-context.ts'
import { type Database, type Program, statement } from './statement.ts'

/** Each of these reads an index of what is open, so that what has ended costs nothing. */
export function* queueFigures({ clock, limits }: LedgerContext): Program<QueueFigures> {
  const now = clock()
  const [waiting] = yield* countWaiting({})
  const [running] = yield* countRunning({})
  const [deliveries] = yield* countDeliveries({})
  const effects = yield* countEffects({})
  const effectsIn = (...states: string[]) =>
    effects.filter(({ state }) => states.includes(state)).reduce((sum, { count }) => sum + count, 0)
  return {
    waiting: waiting?.count ?? 0,
    running: running?.count ?? 0,
    waitingByTenant: yield* waitingByTenant({ limit: limits.tenantsNamedMax }),
    oldestWaitingMs: ageOf((yield* oldestWaiting({}))[0]?.at, now),
    pendingDeliveries: deliveries?.count ?? 0,
    oldestDeliveryMs: ageOf((yield* oldestDelivery({}))[0]?.at, now),
    effectsInFlight: effectsIn('prepared', 'dispatched'),
    effectsUnknown: effectsIn('unknown'),
  }
}

/** What was stored by a clock ahead of ours is not younger than new. */
function ageOf(at: number | null | undefined, now: number): number | null {
  return at === undefined || at === null ? null : Math.max(0, now - at)
}

type Count = { count: number }

const countWaiting = statement<Record<string, never>, Count>(database =>
  queuedTasks(database).select(({ fn }) => fn.countAll<number>().as('count')),
)

const countRunning = statement<Record<string, never>, Count>(database =>
  database
    .selectFrom('tasks')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('state', '=', sql.lit('running')),
)

const waitingByTenant = statement<{ limit: number }, QueueFigures['waitingByTenant'][number]>((database, argument) =>
  queuedTasks(database)
    .select(({ fn }) => ['tenantKey', fn.countAll<number>().as('waiting')])
    .groupBy('tenantKey')
    .orderBy('waiting', 'desc')
    .orderBy('tenantKey')
    .limit(argument('limit')),
)

const oldestWaiting = statement<Record<string, never>, { at: number | null }>(database =>
  queuedTasks(database).select(({ fn }) => fn.min('acceptedAt').as('at')),
)

const pending = (database: Database) => database.selectFrom('deliveries').where('state', '=', sql.lit('pending'))

const countDeliveries = statement<Record<string, never>, Count>(database =>
  pending(database).select(({ fn }) => fn.countAll<number>().as('count')),
)

const oldestDelivery = statement<Record<string, never>, { at: number }>(database =>
  pending(database).select('receivedAt as at').orderBy('number').limit(sql.lit(1)),
)

/** Those of an erased task are left as they are for ever: nobody can do anything about them. */
const countEffects = statement<Record<string, never>, { state: string; count: number }>(database =>
  database
    .selectFrom('effects')
    .innerJoin('tasks', 'tasks.number', 'effects.task')
    .select(({ fn }) => ['effects.state', fn.countAll<number>().as('count')])
    .where(
      'effects.state',
      'in',
      (['prepared', 'dispatched', 'unknown'] as const).map(state => sql.lit(state)),
    )
    .where('erasedAt', 'is', null)
    .groupBy('effects.state'),
)
