import { endOfCancel, hasPassed, type Outcome, type TaskState } from '../domain/index.ts'
import type { Delivered } from './deliver.ts'
import { workerLimits } from './limits.ts'

/** `patchOnly`: why nothing higher than the kept patch could be delivered. */
export type TaskEnd = { outcome: Outcome; reason: string; summary: string; patchOnly?: string }

/** The one recorded outcome of a task whose road was walked to its end. Pure; success needs positive evidence. */
export function decideEnd(state: TaskState, delivered: Delivered | null): TaskEnd {
  const ended = state.session?.ended ?? null
  const summary = ended?.text ?? ''
  // A cancel that came after the delivery came too late; what is there is said.
  if (state.cancel && !isThere(delivered)) return { ...endOfCancel(state.cancel), summary }
  const broken = endOfSession(state)
  if (broken) return broken
  const stopped = ended?.reason === 'answer' ? [] : [`the session ended by its ${ended?.reason} limit`]
  if (state.verdict?.verdict === 'no-change') return { outcome: 'failed', reason: [noChangeReason(state), ...stopped].join('; '), summary }
  if (delivered === null) return { outcome: 'errored', reason: 'nothing was delivered', summary }
  if (delivered.kind === 'unknown')
    return { outcome: 'errored', reason: `it is not known whether the delivery arrived: ${delivered.reason}`, summary }
  const proven = state.verdict?.verdict === 'proven'
  if (delivered.kind === 'patch' && delivered.reason !== '') {
    const reason = [`it could not be delivered: ${delivered.reason}`, ...stopped].join('; ')
    // What a check shows to be broken is no change that was only not delivered.
    const isReady = state.checks.newCodeNewTests.every(hasPassed)
    return { outcome: 'failed', reason, summary, ...(isReady ? { patchOnly: delivered.reason } : {}) }
  }
  if (proven) return { outcome: 'succeeded', reason: stopped.join('; ') || 'the checks pass', summary }
  // Delivered or not, a change that nothing proves is no success.
  const how = delivered.kind === 'pull-request' ? 'delivered as a draft, since no check proves it' : 'no check proves the change'
  return { outcome: 'failed', reason: [how, ...stopped, ...(state.verdict?.reasons ?? [])].join('; '), summary }
}

/**
 * Of a question; null = there is an answer to be posted. It must be the last thing the model said: what it wrote on its way,
 * before it looked, is none, and neither is where a limit cut it off.
 */
export function decideUnanswered(state: TaskState): TaskEnd | null {
  const { cancel, session } = state
  const summary = session?.ended?.text ?? ''
  if (cancel) return { ...endOfCancel(cancel), summary }
  const broken = endOfSession(state)
  if (broken) return broken
  const reason = session?.ended?.reason
  if (reason !== 'answer') return { outcome: 'failed', reason: `the session ended by its ${reason} limit before it had an answer`, summary }
  const said = session?.turns.at(-1)?.answer?.text.trim() ?? ''
  return said === '' ? { outcome: 'failed', reason: 'the model ended without an answer', summary } : null
}

/** How a session ended after which nothing is delivered; null = it went to its end, or to one of its limits. */
function endOfSession({ session }: TaskState): TaskEnd | null {
  const ended = session?.ended
  if (!ended) return { outcome: 'errored', reason: 'the session has no end', summary: '' }
  const summary = ended.text
  switch (ended.reason) {
    case 'cancelled':
      return { outcome: 'cancelled', reason: 'the session was stopped', summary }
    case 'deadline':
      return { outcome: 'timed-out', reason: 'the time was up', summary }
    case 'model-error':
      return { outcome: 'errored', reason: `the model gave no answer: ${ended.text}`, summary }
    case 'refused':
      return { outcome: 'refused', reason: ended.text, summary }
    default:
      return null
  }
}

function isThere(delivered: Delivered | null): boolean {
  return delivered !== null && ['pull-request', 'commit', 'suggestions'].includes(delivered.kind)
}

/** True when the session ended in a way after which nothing more is run or delivered; its work so far is kept as a patch. */
export function isStopped(state: TaskState): boolean {
  const reason = state.session?.ended?.reason
  return state.cancel !== null || reason === undefined || ['cancelled', 'deadline', 'model-error', 'refused'].includes(reason)
}

/** A change of which everything was left out or refused is not the same as none. */
function noChangeReason({ verdict, change }: TaskState): string {
  const left = change?.leftOut ?? []
  const named = left.slice(0, workerLimits.leftOutNamedMax).map(({ path, reason }) => `${path}: ${reason}`)
  const more = left.length > workerLimits.leftOutNamedMax ? [`${left.length - workerLimits.leftOutNamedMax} more`] : []
  const reasons = [...(verdict?.reasons ?? []), ...named, ...more]
  return reasons.length > 0 ? `nothing was left of the change: ${reasons.join('; ')}` : 'the session changed no file'
}
