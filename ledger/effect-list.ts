import { sql } from 'kysely'
import type { EffectRow, OpenEffects } from './ledger.ts'
import type { LedgerContext } from './ledger-context.ts'
import { readPayload } from './read-events.ts'
import { type Database, type Program, statement } from './statement.ts'
import type { Row } from './tables.ts'

type StoredEffect = Omit<Row<'effects'>, 'preparedAt'> & { number: number; taskId: string; erasedAt: number | null }

export function* findEffectRow(context: LedgerContext, effectId: string): Program<EffectRow | null> {
  const [row] = yield* selectEffectRow({ effectId })
  return row === undefined ? null : yield* effectRow(context, row)
}

export function* listOpenEffects(context: LedgerContext, filter: OpenEffects): Program<EffectRow[]> {
  const { attempt, states, updatedBefore, updatedAfter = 0, limit } = filter
  const rows = yield* listings[attempt][states]({ updatedBefore, updatedAfter, limit })
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

type Window = { updatedBefore: number; updatedAfter: number; limit: number }
type Open = 'prepared' | 'dispatched' | 'unknown'

const openStates: readonly Open[] = ['prepared', 'dispatched', 'unknown']

/**
 * States are literal, and all open ones are named besides those that are asked for, so that the partial index is used. An
 * erased task's effects can not be done any more.
 */
function listing(attempt: 'app' | 'worker', states: readonly Open[]) {
  return statement<Window, StoredEffect>((database, argument) => {
    const literal = (these: readonly Open[]) => these.map(state => sql.lit(state))
    const open = effects(database)
      .where('effects.state', 'in', literal(openStates))
      .where('effects.state', 'in', literal(states))
      .where('erasedAt', 'is', null)
      .where('attempt', attempt === 'app' ? '=' : '>', 0)
      .where('updatedAt', '<', argument('updatedBefore'))
      .where('updatedAt', '>=', argument('updatedAfter'))
      .orderBy('updatedAt')
    return (attempt === 'worker' ? open.where('tasks.state', '=', 'ended') : open).limit(argument('limit'))
  })
}

const byState = (attempt: 'app' | 'worker') => ({
  'in-flight': listing(attempt, ['prepared', 'dispatched']),
  unknown: listing(attempt, ['unknown']),
})
const listings = { app: byState('app'), worker: byState('worker') }
