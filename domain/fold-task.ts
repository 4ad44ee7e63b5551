import type { Payload, RecordedEvent, Usage } from './event.ts'
import {
  type CallState,
  type EffectPhase,
  type EffectState,
  emptyTaskState,
  type SessionState,
  type TaskState,
  type TurnState,
} from './task-state.ts'

/**
 * Reads events in order into a state. Pure and total: it never throws on an odd order (the ledger refuses those when
 * they are written), never changes `from`, and folding a list in pieces gives what folding it at once gives. O(n).
 */
export function foldTask(events: readonly RecordedEvent[], from: TaskState = emptyTaskState()): TaskState {
  const draft = openDraft(from)
  for (const event of events) applyEvent(draft, event)
  return draft.state
}

/** A state of our own to write into. `owned` holds the turns made or copied in this fold; others belong to `from`. */
type Draft = { state: TaskState; owned: WeakSet<TurnState> }

function openDraft(from: TaskState): Draft {
  const { session, checks } = from
  const state: TaskState = {
    ...from,
    attempts: [...from.attempts],
    taint: [...from.taint],
    checks: {
      baseCodeBaseTests: [...checks.baseCodeBaseTests],
      newCodeBaseTests: [...checks.newCodeBaseTests],
      baseCodeNewTests: [...checks.baseCodeNewTests],
      newCodeNewTests: [...checks.newCodeNewTests],
    },
    effects: { ...from.effects },
    session: session && { ...session, turns: [...session.turns], failures: [...session.failures] },
    spent: { ...from.spent },
  }
  return { state, owned: new WeakSet() }
}

function applyEvent(draft: Draft, event: RecordedEvent): void {
  const { state } = draft
  const quietMs = Math.max(0, event.at - state.lastAt)
  state.seq = event.seq
  state.lastAt = event.at
  if (event.payload === null) {
    state.erased = true
    return
  }
  switch (event.type) {
    case 'task.accepted':
      state.accepted = { ...event.payload, actor: event.actor, at: event.at }
      return
    case 'task.refused':
      state.refused = { ...event.payload, actor: event.actor, at: event.at }
      return
    case 'attempt.started':
      state.attempts.push({ ...event.payload, attempt: event.attempt, at: event.at, quietMs })
      return
    case 'cancel.requested':
      // The first request counts; a second one changes nothing.
      state.cancel ??= { ...event.payload, at: event.at }
      return
    case 'workspace.opened':
      state.workspace = event.payload
      return
    case 'setup.settled':
      state.setup = event.payload
      return
    case 'taint.raised':
      state.taint.push(event.payload)
      return
    case 'snapshot.taken':
      state.snapshot = event.payload
      return
    case 'change.collected':
      state.change = event.payload
      if (event.payload.onto) forgetProof(state)
      return
    case 'check.settled':
      applyCheck(state, event.payload)
      return
    case 'change.judged':
      state.verdict = event.payload
      return
    case 'commit.made':
      state.commit = event.payload
      return
    case 'task.ended':
      state.outcome = { ...event.payload, at: event.at }
      return
    case 'effect.prepared':
    case 'effect.dispatched':
      applyEffect(state, event)
      return
    case 'effect.settled':
      applyEffect(state, event)
      applyPushed(state, event.payload)
      return
    default:
      applySession(draft, event)
  }
}

/** The same tree on the same parent: where GitHub made the commit itself, this is the one that people have. */
function applyPushed(state: TaskState, { effectId, state: phase, remote }: Payload<'effect.settled'>): void {
  const sha = remote['sha']
  if (phase !== 'confirmed' || state.effects[effectId]?.kind !== 'push' || state.commit === null || typeof sha !== 'string') return
  state.commit = { ...state.commit, sha }
}

/** What was checked, judged and committed was another tree, on another commit. */
function forgetProof(state: TaskState): void {
  state.checks = emptyTaskState().checks
  state.verdict = null
  state.commit = null
}

function applyCheck(state: TaskState, check: Payload<'check.settled'>): void {
  const results = state.checks[check.cell]
  const before = results.findIndex(result => result.name === check.name)
  if (before === -1) results.push(check)
  else results[before] = check
}

type EffectEvent = Extract<RecordedEvent, { type: `effect.${string}` }>

function applyEffect(state: TaskState, event: EffectEvent): void {
  if (event.payload === null) return
  const { effectId } = event.payload
  if (event.type === 'effect.prepared') {
    const { kind, key, intent } = event.payload
    state.effects[effectId] = {
      kind,
      key,
      state: 'prepared',
      tries: 0,
      intent,
      remote: null,
      reason: '',
      foundByReadBack: false,
      attempt: event.attempt,
      preparedAt: event.at,
      updatedAt: event.at,
    }
    return
  }
  const before = Object.hasOwn(state.effects, effectId) ? state.effects[effectId] : undefined
  if (before === undefined) return
  const move = (phase: EffectPhase, change: Partial<EffectState>) => {
    state.effects[effectId] = { ...before, ...change, state: phase, updatedAt: event.at }
  }
  if (event.type === 'effect.dispatched') move('dispatched', { tries: event.payload.try })
  else {
    const { remote, reason, foundByReadBack } = event.payload
    move(event.payload.state, { remote, reason, foundByReadBack })
  }
}

type SessionEvent = Extract<RecordedEvent, { type: `session.${string}` | `model.${string}` | `tool.${string}` }>

function applySession(draft: Draft, event: SessionEvent): void {
  if (event.payload === null) return
  const session = sessionOf(draft.state)
  switch (event.type) {
    case 'session.started':
      session.started = event.payload
      return
    case 'model.requested':
      loseOpenRequest(draft.state, session)
      session.openRequest = event.payload
      return
    case 'model.answered':
      session.openRequest = null
      spend(draft.state, event.payload.usage)
      openTurn(draft, session, event.payload)
      return
    case 'model.failed':
      session.openRequest = null
      spend(draft.state, event.payload.usage)
      session.failures.push(event.payload)
      return
    case 'tool.started':
    case 'tool.settled':
      applyCall(draft, session, event)
      return
    case 'session.ended':
      session.ended = event.payload
  }
}

function sessionOf(state: TaskState): SessionState {
  state.session ??= { started: null, turns: [], openRequest: null, failures: [], ended: null }
  return state.session
}

/** A request that is made while another is open: the open one was cut off by a crash. */
function loseOpenRequest(state: TaskState, session: SessionState): void {
  if (session.openRequest === null) return
  state.spent.lostRequests += 1
  state.spent.lostTokens += session.openRequest.reservedTokens
}

function spend({ spent }: TaskState, usage: Usage): void {
  spent.inputTokens += usage.inputTokens
  spent.cachedTokens += usage.cachedTokens
  spent.outputTokens += usage.outputTokens
  if (usage.costMicroUsd === null) spent.unpriced += 1
  else spent.costMicroUsd += usage.costMicroUsd
  if (!usage.reported) spent.estimated += 1
}

function openTurn(draft: Draft, session: SessionState, answer: Payload<'model.answered'>): void {
  const turn: TurnState = {
    turn: answer.turn,
    answer,
    calls: answer.toolCalls.map(call => ({ call, started: null, settled: null })),
  }
  draft.owned.add(turn)
  session.turns.push(turn)
}

type CallEvent = Extract<RecordedEvent, { type: `tool.${string}` }>

function applyCall(draft: Draft, session: SessionState, event: CallEvent): void {
  if (event.payload === null) return
  const turn = ownTurn(draft, session, event.payload.turn)
  const field = event.type === 'tool.started' ? 'started' : 'settled'
  const call = callOf(turn, event.payload, field)
  if (event.type === 'tool.started') call.started = event.payload
  else call.settled = event.payload
}

/** The turn of that number, newest first, as an object this fold may change. */
function ownTurn(draft: Draft, session: SessionState, number: number): TurnState {
  let at = session.turns.length - 1
  while (at >= 0 && session.turns[at]?.turn !== number) at -= 1
  const found = session.turns[at]
  if (found !== undefined && draft.owned.has(found)) return found
  const turn: TurnState =
    found === undefined ? { turn: number, answer: null, calls: [] } : { ...found, calls: found.calls.map(call => ({ ...call })) }
  if (found === undefined) session.turns.push(turn)
  else session.turns[at] = turn
  draft.owned.add(turn)
  return turn
}

/**
 * Models repeat call ids, even inside one answer: the first call of that id whose field is still free is meant. A call
 * that is started again after a crash writes over the cut-off start of the same call.
 */
function callOf(turn: TurnState, { callId, name }: { callId: string; name: string }, field: 'started' | 'settled'): CallState {
  const same = turn.calls.filter(({ call }) => call.id === callId)
  const free = same.find(call => call[field] === null) ?? same.find(call => call.settled === null) ?? same.at(-1)
  if (free !== undefined) return free
  const call: CallState = { call: { id: callId, name, arguments: '' }, started: null, settled: null }
  turn.calls.push(call)
  return call
}
