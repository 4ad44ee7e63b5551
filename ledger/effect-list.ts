import { sql } from 'kysely'
import type { EffectRow } from './ledger.ts'
import type { LedgerContext } from './ledger-context.ts'
import { readPayload } from './read-events.ts'
import { type Database, type Program, statement } from './statement.ts'
import type { Row } from './tables.ts'

type StoredEffect = Omit<Row<'effects'>, 'preparedAt'> & { number: number; taskId: string; erasedAt: number | null }

export function* findEffectRow(context: LedgerContext, effectId: string): Program<EffectRow | null> {
  const [row] = yield* selectEffectRow({ effectId })
  return row === undefined ? null : yield* effectRow(context, row)
}

export function* listOpenEffects(
  context: LedgerContext,
  filter: { attempt: 'app' | 'worker'; updatedBefore: number; limit: number },
): Program<EffectRow[]> {
  const { attempt, ...args } = filter
  const rows = yield* attempt === 'app' ? openOfApp(args) : openOfWorkers(args)
  const effects: EffectRow[] = []
  for (const row of rows) effects.push(yield* effectRow(context, row))
  return effects
}

/** Intent and remote are read from the events, so that erasing a task has one place to erase. */
function* effectRow(context: LedgerContext, row: StoredEffect): Program<EffectRow> {
  const { effectId, taskId, attempt, kind, key, state, tries, updatedAt } = row
  const prepared = yield* readPayload(context, row, row.preparedSeq)
  const settled = row.settledSeq === null ? null : yield* readPayload(context, row, row.settledSeq)
  const intent = prepared !== null && 'intent' in prepared ? prepared.intent : null
  const remote = settled !== null && 'remote' in settled ? settled.remote : null
  return { effectId, taskId, attempt, kind, key, state, tries, intent, remote, updatedAt }
}

const effects = (database: Database) =>
  database
    .selectFrom('effects')
    .innerJoin('tasks', 'tasks.number', 'effects.task')
    .select(['effectId', 'task', 'attempt', 'kind', 'key', 'effects.state', 'tries', 'preparedSeq', 'settledSeq', 'updatedAt'])
    .select(['tasks.number', 'taskId', 'erasedAt'])

const selectEffectRow = statement<{ effectId: string }, StoredEffect>((database, argument) =>
  effects(database).where('effectId', '=', argument('effectId')),
)

/** States are literal, so that the partial index is used. An erased task's effects can not be done any more. */
const openEffects = (database: Database) =>
  effects(database)
    .where('effects.state', 'in', [sql.lit('prepared' as const), sql.lit('dispatched' as const), sql.lit('unknown' as const)])
    .where('erasedAt', 'is', null)
    .orderBy('updatedAt')

type Window = { updatedBefore: number; limit: number }

const openOfApp = statement<Window, StoredEffect>((database, argument) =>
  openEffects(database).where('attempt', '=', 0).where('updatedAt', '<', argument('updatedBefore')).limit(argument('limit')),
)

const openOfWorkers = statement<Window, StoredEffect>((database, argument) =>
  openEffects(database).where('attempt', '>', 0).where('updatedAt', '<', argument('updatedBefore')).limit(argument('limit')),
)
