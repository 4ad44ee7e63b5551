import { describe, expect, it } from 'vitest'
import {
  type EventType,
  emptyTaskState,
  eventTypes,
  foldTask,
  type NewEvent,
  type Payload,
  type RecordedEvent,
  type TaskState,
} from '../../domain/index.ts'
import { seededRandom } from './random.ts'
import { accepted, eventOf, payloads, refused, startedAt } from './samples.ts'

/** Numbers events as a ledger would; the hash is not looked at by a fold. */
function recorded(events: readonly NewEvent[], from = 0, attempt = 1): RecordedEvent[] {
  return events.map((event, index) => {
    const seq = from + index + 1
    return { ...event, seq, version: 1, actor: 'worker:1', attempt, at: startedAt + seq, hash: `hash-${seq}` } as RecordedEvent
  })
}

const fold = (...events: NewEvent[]) => foldTask(recorded(events))

const answer = (turn: number, ...ids: string[]) =>
  eventOf('model.answered', { turn, toolCalls: ids.map(id => ({ id, name: 'run', arguments: '{}' })) })
const started = (turn: number, callId: string) => eventOf('tool.started', { turn, callId })
const settled = (turn: number, callId: string, result = callId) => eventOf('tool.settled', { turn, callId, result })
const requested = (turn: number, reservedTokens = 100) => eventOf('model.requested', { turn, reservedTokens })

describe('the fold of one event', () => {
  const at = startedAt + 1
  const cases: [EventType, Partial<TaskState>][] = [
    ['task.accepted', { accepted: { ...accepted, actor: 'worker:1', at } }],
    ['task.refused', { refused: { ...refused, actor: 'worker:1', at } }],
    ['attempt.started', { attempts: [{ owner: 'worker-1', recovers: null, attempt: 1, at, quietMs: at }] }],
    ['cancel.requested', { cancel: { ...payloads['cancel.requested'], at } }],
    ['workspace.opened', { workspace: payloads['workspace.opened'] }],
    ['setup.settled', { setup: payloads['setup.settled'] }],
    ['taint.raised', { taint: [payloads['taint.raised']] }],
    ['snapshot.taken', { snapshot: payloads['snapshot.taken'] }],
    ['change.collected', { change: payloads['change.collected'] }],
    ['check.settled', { checks: { ...emptyTaskState().checks, newCodeBaseTests: [payloads['check.settled']] } }],
    ['change.judged', { verdict: payloads['change.judged'] }],
    ['commit.made', { commit: payloads['commit.made'] }],
    ['task.ended', { outcome: { ...payloads['task.ended'], at } }],
    ['effect.dispatched', {}],
    ['effect.settled', {}],
  ]
  it.each(cases)('%s changes its own field and nothing else', (type, change) => {
    expect(fold(eventOf(type))).toEqual({ ...emptyTaskState(), seq: 1, lastAt: at, ...change })
  })

  it.each(eventTypes)('%s leaves only a mark when its payload was erased', type => {
    const [event] = recorded([eventOf(type)])
    const erased = { ...event, payload: null } as RecordedEvent
    expect(foldTask([erased])).toEqual({ ...emptyTaskState(), seq: 1, lastAt: at, erased: true })
  })
})

describe('the fold of a session', () => {
  it('keeps turns in order, each with its calls and their results', () => {
    const state = fold(eventOf('session.started'), requested(1), answer(1, 'a', 'b'), started(1, 'a'), settled(1, 'a'), started(1, 'b'))
    expect(state.session).toEqual({
      started: payloads['session.started'],
      turns: [
        {
          turn: 1,
          answer: answer(1, 'a', 'b').payload,
          calls: [
            { call: { id: 'a', name: 'run', arguments: '{}' }, started: started(1, 'a').payload, settled: settled(1, 'a').payload },
            { call: { id: 'b', name: 'run', arguments: '{}' }, started: started(1, 'b').payload, settled: null },
          ],
        },
      ],
      openRequest: null,
      failures: [],
      ended: null,
    })
  })

  it('keeps calls of the same id in different turns, and in one answer, apart', () => {
    const state = fold(
      answer(1, 'x', 'x'),
      started(1, 'x'),
      settled(1, 'x', 'first'),
      started(1, 'x'),
      settled(1, 'x', 'second'),
      answer(2, 'x'),
      started(2, 'x'),
      settled(2, 'x', 'third'),
    )
    const results = state.session?.turns.map(({ calls }) => calls.map(call => call.settled?.result))
    expect(results).toEqual([['first', 'second'], ['third']])
  })

  it('settles two calls of one id that both were started first in their order', () => {
    const state = fold(answer(1, 'x', 'x'), started(1, 'x'), started(1, 'x'), settled(1, 'x', 'first'))
    expect(state.session?.turns[0]?.calls.map(({ settled }) => settled?.result ?? null)).toEqual(['first', null])
  })

  it('gives a call that is started again after a crash the newer start and no second place', () => {
    const again = eventOf('tool.started', { turn: 1, callId: 'a', decision: { kind: 'allow', rule: 'again', reason: '' } })
    const state = fold(answer(1, 'a'), started(1, 'a'), again, settled(1, 'a'))
    expect(state.session?.turns[0]?.calls).toEqual([
      { call: { id: 'a', name: 'run', arguments: '{}' }, started: again.payload, settled: settled(1, 'a').payload },
    ])
  })

  it('knows the one request that has no answer, and counts what a crash lost', () => {
    expect(fold(requested(1)).session?.openRequest).toEqual(requested(1).payload)
    const state = fold(requested(1, 100), requested(1, 150), answer(1), requested(2), eventOf('model.failed', { turn: 2 }))
    expect(state.session?.openRequest).toBeNull()
    expect(state.session?.failures).toEqual([eventOf('model.failed', { turn: 2 }).payload])
    expect(state.spent).toEqual({
      inputTokens: 2400,
      cachedTokens: 1600,
      outputTokens: 180,
      costMicroUsd: 4200,
      unpriced: 1,
      estimated: 1,
      lostRequests: 1,
      lostTokens: 100,
    })
  })
})

describe('the fold of everything around a session', () => {
  it('replaces a check that ran again after a crash and keeps the order', () => {
    const check = (name: string, exitCode: number, cell: Payload<'check.settled'>['cell'] = 'newCodeBaseTests') =>
      eventOf('check.settled', { name, exitCode, cell })
    const { checks } = fold(check('test', 1), check('lint', 0), check('test', 0), check('test', 1, 'baseCodeBaseTests'))
    expect(checks.newCodeBaseTests.map(({ name, exitCode }) => [name, exitCode])).toEqual([
      ['test', 0],
      ['lint', 0],
    ])
    expect(checks.baseCodeBaseTests).toHaveLength(1)
  })

  it('keeps the first cancel, every taint, and the newest snapshot', () => {
    const state = fold(
      eventOf('cancel.requested', { by: 'github:1' }),
      eventOf('cancel.requested', { by: 'github:2' }),
      eventOf('taint.raised', { detail: 'one' }),
      eventOf('taint.raised', { detail: 'two' }),
      eventOf('snapshot.taken', { turn: 1 }),
      eventOf('snapshot.taken', { turn: 2 }),
    )
    expect({ by: state.cancel?.by, taint: state.taint.map(({ detail }) => detail), turn: state.snapshot?.turn }).toEqual({
      by: 'github:1',
      taint: ['one', 'two'],
      turn: 2,
    })
  })

  it('follows an effect from its intent to what exists', () => {
    const state = fold(
      eventOf('effect.prepared'),
      eventOf('effect.dispatched'),
      eventOf('effect.settled', { state: 'unknown', remote: {}, reason: 'connection lost' }),
      eventOf('effect.dispatched', { try: 2 }),
      eventOf('effect.settled', { foundByReadBack: true }),
    )
    expect(state.effects).toEqual({
      'effect-1': {
        kind: 'pull-request',
        key: 'octo/pager:grok/fix-12',
        state: 'confirmed',
        tries: 2,
        intent: payloads['effect.prepared'].intent,
        remote: payloads['effect.settled'].remote,
        reason: '',
        foundByReadBack: true,
        attempt: 1,
        preparedAt: startedAt + 1,
        updatedAt: startedAt + 5,
      },
    })
  })

  it('takes an effect id for a name and nothing else', () => {
    expect(fold(eventOf('effect.dispatched', { effectId: 'constructor' })).effects).toEqual({})
    const { effects } = fold(
      eventOf('effect.prepared', { effectId: 'constructor' }),
      eventOf('effect.dispatched', { effectId: 'constructor' }),
    )
    expect(Object.entries(effects).map(([id, { state }]) => [id, state])).toEqual([['constructor', 'dispatched']])
  })
})

describe('folding in pieces', () => {
  it('is folding at once, for any order of events and any cuts', () => {
    for (let seed = 1; seed <= 300; seed += 1) {
      const random = seededRandom(seed)
      const events = randomEvents(random, 1 + random(60))
      const whole = foldTask(events)
      let state = emptyTaskState()
      for (let at = 0; at < events.length; ) {
        const next = at + 1 + random(9)
        const before = structuredClone(state)
        const folded = foldTask(events.slice(at, next), state)
        expect(state, `seed ${seed}: the fold wrote into the state it was given`).toEqual(before)
        state = folded
        at = next
      }
      expect(state, `seed ${seed}`).toEqual(whole)
    }
  })
})

/** Any order, legal or not, with few ids so that they meet; a tenth is erased. */
function randomEvents(random: (below: number) => number, length: number): RecordedEvent[] {
  const events = Array.from({ length }, () => {
    const type = eventTypes[random(eventTypes.length)] as EventType
    const own = { turn: 1 + random(3), callId: `call_${random(3)}`, effectId: `effect-${random(3)}`, name: `check-${random(2)}` }
    const base = payloads[type]
    const change = Object.fromEntries(Object.entries(own).filter(([key]) => key in base))
    return eventOf(type, change as never)
  })
  return recorded(events).map(event => (random(10) === 0 ? ({ ...event, payload: null } as RecordedEvent) : event))
}
