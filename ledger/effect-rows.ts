import { type EffectPhase, effectTransitions, type NewEvent } from '../domain/index.ts'
import { assertLedger } from './ledger-assertion.ts'
import { type Program, statement } from './statement.ts'
import type { Row } from './tables.ts'

export type EffectEvent = Extract<NewEvent, { type: `effect.${string}` }>
type StoredEffect = Pick<Row<'effects'>, 'task' | 'attempt' | 'state' | 'tries'>

/** Keeps the effects table in step with an event, in the event's own transaction. An illegal move is a bug. */
export function* applyEffectEvent(
  task: number,
  { attempt, at }: { attempt: number; at: number },
  seq: number,
  event: EffectEvent,
): Program<void> {
  const { effectId } = event.payload
  const before = yield* findEffect(effectId)
  if (event.type === 'effect.prepared') {
    const { kind, key } = event.payload
    assertLedger(before === null, 'an effect is prepared once', { effectId })
    yield* insertEffect({ effectId, task, attempt, kind, key, seq, at })
    return
  }
  assertLedger(before !== null && before.task === task, 'an effect is prepared first, by its own task', { effectId, task })
  const state: EffectPhase = event.type === 'effect.dispatched' ? 'dispatched' : event.payload.state
  const tries = event.type === 'effect.dispatched' ? event.payload.try : before.tries
  const facts = { effectId, from: before.state, to: state, tries }
  assertLedger(effectTransitions[before.state].includes(state), 'an effect can not move like that', facts)
  if (state === 'dispatched') assertLedger(tries === before.tries + 1, 'the tries of an effect are counted', facts)
  if (event.type === 'effect.dispatched') yield* dispatchEffect({ effectId, tries, at })
  else yield* settleEffect({ effectId, state, seq, at })
}

export function* findEffect(effectId: string): Program<StoredEffect | null> {
  const [row] = yield* selectEffect({ effectId })
  return row ?? null
}

const selectEffect = statement<{ effectId: string }, StoredEffect>((database, argument) =>
  database.selectFrom('effects').select(['task', 'attempt', 'state', 'tries']).where('effectId', '=', argument('effectId')),
)

type NewEffect = { effectId: string; task: number; attempt: number; kind: string; key: string; seq: number; at: number }

const insertEffect = statement<NewEffect>((database, argument) =>
  database.insertInto('effects').values({
    effectId: argument('effectId'),
    task: argument('task'),
    attempt: argument('attempt'),
    kind: argument('kind'),
    key: argument('key'),
    state: 'prepared',
    tries: 0,
    preparedSeq: argument('seq'),
    settledSeq: null,
    preparedAt: argument('at'),
    updatedAt: argument('at'),
  }),
)

const dispatchEffect = statement<{ effectId: string; tries: number; at: number }>((database, argument) =>
  database
    .updateTable('effects')
    .set({ state: 'dispatched', tries: argument('tries'), updatedAt: argument('at') })
    .where('effectId', '=', argument('effectId')),
)

const settleEffect = statement<{ effectId: string; state: EffectPhase; seq: number; at: number }>((database, argument) =>
  database
    .updateTable('effects')
    .set({ state: argument('state'), settledSeq: argument('seq'), updatedAt: argument('at') })
    .where('effectId', '=', argument('effectId')),
)
