import { endOfCancel, hasPassed, type Outcome, type ProblemCode, type TaskState } from '../domain/index.ts'
import type { Delivered } from './deliver.ts'
import { workerLimits } from './limits.ts'
import { modelProblem } from './model-problem.ts'

/** `patchOnly`: why nothing higher than the kept patch could be delivered. `code`: why there is no success; absent where there is. */
export type TaskEnd = { outcome: Outcome; reason: string; summary: string; patchOnly?: string; code?: ProblemCode }

/** The one recorded outcome of a task whose road was walked to its end. Pure; success needs positive evidence. */
export function decideEnd(state: TaskState, delivered: Delivered | null): TaskEnd {
  const ended = state.session?.ended ?? null
  const summary = ended?.text ?? ''
  // A cancel that came after the delivery came too late; what is there is said.
  if (state.cancel && !isThere(delivered)) return { ...endOfCancel(state.cancel), summary }
  const broken = endOfSession(state)
  if (broken) return broken
  const limit = limitOf(state)
  const stopped = ended?.reason === 'answer' ? [] : [`the session ended by its ${ended?.reason} limit`]
  if (state.verdict?.verdict === 'no-change') {
    const { code, reason } = noChange(state)
    return { outcome: 'failed', code: limit ?? code, reason: [reason, ...stopped].join('; '), summary }
  }
  if (delivered === null) return { outcome: 'errored', code: 'nothing-delivered', reason: 'nothing was delivered', summary }
  if (delivered.kind === 'unknown')
    return {
      ...{ outcome: 'errored', code: 'delivery-unknown', summary },
      reason: `it is not known whether the delivery arrived: ${delivered.reason}`,
    }
  if (delivered.kind === 'patch' && delivered.reason !== '') return endAsPatch(state, delivered, { stopped, summary })
  if (state.verdict?.verdict === 'proven') return { outcome: 'succeeded', reason: stopped.join('; ') || 'the checks pass', summary }
  // Delivered or not, a change that nothing proves is no success.
  const how = delivered.kind === 'pull-request' ? 'delivered as a draft, since no check proves it' : 'no check proves the change'
  const reason = [how, ...stopped, ...(state.verdict?.reasons ?? [])].join('; ')
  return { outcome: 'failed', code: limit ?? unprovenBy(state), reason, summary }
}

function endAsPatch(
  state: TaskState,
  { code, reason: why }: Delivered & { kind: 'patch' },
  { stopped, summary }: { stopped: readonly string[]; summary: string },
): TaskEnd {
  const reason = [`it could not be delivered: ${why}`, ...stopped].join('; ')
  // What a check shows to be broken is no change that was only not delivered.
  const isReady = state.checks.newCodeNewTests.every(hasPassed)
  return { outcome: 'failed', reason, summary, ...(code ? { code } : {}), ...(isReady ? { patchOnly: why } : {}) }
}

const limitCodes: Readonly<Record<string, ProblemCode>> = {
  turns: 'turns-used',
  tokens: 'tokens-used',
  cost: 'cost-used',
  repetition: 'repeating',
}

/** The limit that ended the session before it was done: what came of it is then no wonder. */
function limitOf({ session }: TaskState): ProblemCode | null {
  return limitCodes[session?.ended?.reason ?? ''] ?? null
}

/** What keeps a change from being proven, the cause before its effects. */
function unprovenBy({ setup, checks }: TaskState): ProblemCode {
  if ((setup?.exitCode ?? 0) !== 0) return 'setup-failed'
  if (checks.newCodeNewTests.length === 0) return 'checks-missing'
  return checks.newCodeNewTests.every(hasPassed) ? 'unproven' : 'checks-fail'
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
  const code = limitOf(state)
  if (code !== null) {
    const reason = `the session ended by its ${session?.ended?.reason} limit before it had an answer`
    return { outcome: 'failed', code, reason, summary }
  }
  const said = session?.turns.at(-1)?.answer?.text.trim() ?? ''
  return said === '' ? { outcome: 'failed', code: 'no-answer', reason: 'the model ended without an answer', summary } : null
}

/** How a session ended after which nothing is delivered; null = it went to its end, or to one of its limits. */
function endOfSession(state: TaskState): TaskEnd | null {
  const ended = state.session?.ended
  if (!ended) return { outcome: 'errored', code: 'session-lost', reason: 'the session has no end', summary: '' }
  const summary = ended.text
  switch (ended.reason) {
    case 'cancelled':
      return { outcome: 'cancelled', code: 'session-stopped', reason: 'the session was stopped', summary }
    case 'deadline':
      return { outcome: 'timed-out', code: 'time-up', reason: 'the time was up', summary }
    case 'model-error':
      return { outcome: 'errored', code: modelProblem(state), reason: `the model gave no answer: ${ended.text}`, summary }
    case 'refused':
      return { outcome: 'refused', code: 'model-refused', reason: ended.text, summary }
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
function noChange({ verdict, change }: TaskState): { code: ProblemCode; reason: string } {
  const left = change?.leftOut ?? []
  const named = left.slice(0, workerLimits.leftOutNamedMax).map(({ path, reason }) => `${path}: ${reason}`)
  const more = left.length > workerLimits.leftOutNamedMax ? [`${left.length - workerLimits.leftOutNamedMax} more`] : []
  const reasons = [...(verdict?.reasons ?? []), ...named, ...more]
  if (reasons.length === 0) return { code: 'no-change', reason: 'the session changed no file' }
  return { code: 'nothing-left', reason: `nothing was left of the change: ${reasons.join('; ')}` }
}
