import { sql } from 'kysely'
import { type Candidate, queuedTasks, waitingTasks } from './candidates.ts'
import { type Database, type Program, statement } from './statement.ts'

/**
 * The waiting task that is to be started next: of the lowest priority number, of the tenant that has the fewest running
 * tasks, then of the one that was served longest ago, the oldest whose lane is free. A tenant costs one look into an
 * index however much it has waiting, so that one with thousands of tasks makes no claim slow.
 */
export function* firstInTurn(): Program<Candidate | null> {
  let [level] = yield* firstLevel({})
  while (level !== undefined && level.priority !== null) {
    const { priority } = level
    // Only tenants that run something already can have all their lanes busy, so few are looked at in vain.
    for (const { tenantKey } of yield* tenantsInTurn({ priority })) {
      const [first] = yield* firstOfTenant({ priority, tenantKey })
      if (first !== undefined) return first
    }
    ;[level] = yield* nextLevel({ priority })
  }
  return null
}

/** Puts a tenant behind all others. Counted and not timed: the clocks of workers differ. */
export const takeTurn = statement<{ tenantKey: string }>((database, argument) =>
  database
    .insertInto('tenants')
    .values({
      tenantKey: argument('tenantKey'),
      served: ({ selectFrom, fn, lit }) =>
        selectFrom('tenants').select(({ eb }) => eb(fn.coalesce(fn.max('served'), lit(0)), '+', lit(1)).as('served')),
    })
    .onConflict(conflict => conflict.column('tenantKey').doUpdateSet(({ ref }) => ({ served: ref('excluded.served') }))),
)

type Level = { priority: number | null }

const firstLevel = statement<Record<string, never>, Level>(database => levels(database))

const nextLevel = statement<{ priority: number }, Level>((database, argument) =>
  levels(database).where('priority', '>', argument('priority')),
)

const levels = (database: Database) => queuedTasks(database).select(({ fn }) => fn.min('priority').as('priority'))

/** From one tenant to the next through the index; how many tasks each has does not matter. */
const tenantsInTurn = statement<{ priority: number }, { tenantKey: string }>((database, argument) => {
  const ofPriority = (within: Pick<Database, 'selectFrom'>) => queuedTasks(within).where('priority', '=', argument('priority'))
  return (
    database
      .withRecursive('waiting', within =>
        within
          .selectNoFrom(() =>
            ofPriority(within)
              .select(({ fn }) => fn.min('tenantKey').as('tenantKey'))
              .as('tenantKey'),
          )
          .unionAll(
            within
              .selectFrom('waiting')
              .select(() =>
                ofPriority(within)
                  .select(({ fn }) => fn.min('tenantKey').as('tenantKey'))
                  .whereRef('tasks.tenantKey', '>', 'waiting.tenantKey' as never)
                  .as('tenantKey'),
              )
              .where('waiting.tenantKey', 'is not', null),
          ),
      )
      .selectFrom('waiting')
      .leftJoin('tenants', 'tenants.tenantKey', 'waiting.tenantKey')
      .select('waiting.tenantKey')
      .where('waiting.tenantKey', 'is not', null)
      .orderBy(({ selectFrom }) =>
        selectFrom('tasks')
          .select(({ fn }) => fn.countAll<number>().as('running'))
          .where('state', '=', sql.lit('running'))
          .whereRef('tasks.tenantKey', '=', 'waiting.tenantKey'),
      )
      .orderBy(({ fn, lit }) => fn.coalesce('tenants.served', lit(0)))
      // Who was never served has no row, and none of its lanes is busy: its oldest task decides.
      .orderBy(() =>
        ofPriority(database)
          .select(({ fn }) => fn.min('number').as('oldest'))
          .whereRef('tasks.tenantKey', '=', 'waiting.tenantKey' as never),
      )
      .$narrowType<{ tenantKey: string }>()
  )
})

const firstOfTenant = statement<{ priority: number; tenantKey: string }, Candidate>((database, argument) =>
  waitingTasks(database)
    .where('priority', '=', argument('priority'))
    .where('tenantKey', '=', argument('tenantKey'))
    .orderBy('number')
    .limit(sql.lit(1)),
)
