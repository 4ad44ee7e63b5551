import type { Payload, Usage } from '../domain/index.ts'
import type { SessionContext } from './context.ts'
import { type FailureKind, failures } from './model/failure-kinds.ts'
import type { Sample } from './model/sampler.ts'
import { addTokens } from './model/token-counts.ts'
import type { EndReason } from './session.ts'

export type ModelStep =
  | { kind: 'answered'; answer: Payload<'model.answered'> }
  | { kind: 'end'; reason: EndReason; text: string }
  /** Fenced or handed over: nothing more is written. */
  | { kind: 'left' }

/** One answer of the model: a recorded one is consumed, otherwise it is asked within the budget and recorded before it is used. */
export async function askModel(session: SessionContext, turn: number): Promise<ModelStep> {
  const recorded = session.folded.turns.get(turn)
  if (recorded?.answer) {
    session.budget.learn(recorded.answer.usage, session.chat.bytes())
    return { kind: 'answered', answer: recorded.answer }
  }
  if (recorded?.failure) return endAfterFailure(session, recorded.failure)
  const stopped = stoppedStep(session) ?? (await session.stop.race(killedStep(session))) ?? stoppedStep(session)
  return stopped ?? ask(session, turn, recorded?.openRequests.length ?? 0)
}

async function ask(session: SessionContext, turn: number, asked: number): Promise<ModelStep> {
  const { budget, journal, ports, progress } = session
  const request = session.chat.request()
  const reservation = budget.reserve(request.body.byteLength)
  if (reservation.kind === 'exhausted') return { kind: 'end', reason: reservation.by, text: '' }
  const commandId = asked === 0 ? `turn:${turn}:request` : `turn:${turn}:request:${asked + 1}`
  const payload = { turn, requestHash: request.hash, reservedTokens: reservation.tokens }
  if (!(await journal.append({ type: 'model.requested', commandId, payload }))) return { kind: 'left' }
  const used = budget.used()
  progress({ kind: 'turn', turn, tokens: used.inputTokens + used.outputTokens, costMicroUsd: used.costMicroUsd })
  const startedAt = ports.now()
  const sample = await session.sampler.sample(request, {
    signal: session.stop.signal,
    reserved: reservation.counts,
    takenIds: session.callIds,
    mayTryAgain: held => budget.fitsAgain(reservation, held),
    onRetry: retry => progress({ kind: 'retrying', turn, triesMax: session.limits.modelTriesMax, ...retry }),
  })
  if (session.stop.reason() === 'hand-over' || session.stop.reason() === 'fenced') return { kind: 'left' }
  const durationMs = Math.max(0, Math.round(ports.now() - startedAt))
  return recordSample(session, turn, { hash: request.hash, bytes: request.body.byteLength }, sample, durationMs)
}

async function recordSample(
  session: SessionContext,
  turn: number,
  request: { hash: string; bytes: number },
  sample: Sample,
  durationMs: number,
): Promise<ModelStep> {
  const { budget, journal } = session
  if (sample.kind === 'failed') {
    const usage = budget.book(sample.held, sample.reported)
    const { kind, message } = sample.failure
    const recorded = await journal.append({
      type: 'model.failed',
      commandId: `turn:${turn}:failure`,
      payload: { turn, kind, message, tries: sample.tries, usage },
    })
    return recorded ? endAfterFailure(session, { kind, message, tries: sample.tries }) : { kind: 'left' }
  }
  const usage = bookAnswer(session, sample, request.bytes)
  const answer = {
    turn,
    requestHash: request.hash,
    text: sample.text === '' ? sample.refusal : sample.text,
    toolCalls: sample.toolCalls,
    finishReason: sample.refusal === '' || sample.text !== '' ? sample.finishReason : 'refusal',
    usage,
    tries: sample.tries,
    durationMs,
  }
  if (!(await journal.append({ type: 'model.answered', commandId: `turn:${turn}:answer`, payload: answer }))) return { kind: 'left' }
  if (answer.text !== '') session.progress({ kind: 'text', turn, text: answer.text })
  return { kind: 'answered', answer }
}

/** The answer and the failed tries before it are one row of the ledger; only the answer itself teaches what a request costs. */
function bookAnswer(session: SessionContext, sample: Extract<Sample, { kind: 'answered' }>, requestBytes: number): Usage {
  const own = session.budget.book(sample.usage, sample.reported)
  session.budget.learn(own, requestBytes)
  if (sample.held.inputTokens + sample.held.outputTokens === 0) return own
  const failed = session.budget.book(sample.held, false)
  const costMicroUsd = own.costMicroUsd === null ? null : own.costMicroUsd + (failed.costMicroUsd ?? 0)
  return { ...addTokens(sample.usage, sample.held), costMicroUsd, reported: own.reported && sample.reported }
}

function stoppedStep(session: SessionContext): ModelStep | null {
  const reason = session.stop.reason()
  if (reason === null) return null
  if (reason === 'fenced' || reason === 'hand-over') return { kind: 'left' }
  return { kind: 'end', reason, text: '' }
}

/** A pulled switch ends the session before the next paid request; one that can not be read counts as pulled once it is old. */
async function killedStep(session: SessionContext): Promise<ModelStep | null> {
  try {
    const state = await session.ports.killSwitch()
    if (state.kind === 'clear') return null
    if (state.kind === 'pulled') return { kind: 'end', reason: 'cancelled', text: `The kill switch was pulled: ${state.reason}` }
    if (state.clearAt !== null && session.ports.now() - state.clearAt <= session.limits.killSwitchStaleMs) return null
  } catch {
    // Unreadable as well.
  }
  return { kind: 'end', reason: 'cancelled', text: 'The kill switch could not be read.' }
}

type RecordedFailure = Pick<Payload<'model.failed'>, 'kind' | 'message' | 'tries'>

function endAfterFailure(session: SessionContext, { kind, message, tries }: RecordedFailure): ModelStep {
  if (kind === 'cancelled') return { kind: 'end', reason: session.stop.reason() === 'deadline' ? 'deadline' : 'cancelled', text: '' }
  const hint = Object.hasOwn(failures, kind) ? failures[kind as FailureKind].hint : kind
  return { kind: 'end', reason: 'model-error', text: `${hint} (${message.replace(/\.$/, '')}${tries > 1 ? `; ${tries} tries` : ''})` }
}
