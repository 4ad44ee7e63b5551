import { type EffectState, foldTask, type RecordedEvent, type TaskState } from '../domain/index.ts'
import { type EffectProposal, effectId } from '../effects/index.ts'
import type { TaskEnd } from './decide-end.ts'
import { deliveryWords } from './delivery-words.ts'
import { placeOf } from './effect-ports.ts'
import { workerLimits } from './limits.ts'
import { renderEnded } from './render-progress.ts'

export const progressId = (taskId: string) => `${taskId}:progress:1`

/**
 * What the thread is told at the end of a task: the last text of its progress comment where there is one, a comment of its
 * own for a bad end that had none; null: the pull request is the message. One of them is made, until more is known.
 */
export function lastWords(state: TaskState, end: TaskEnd, now: number, prefix: string): EffectProposal | null {
  const known = commentOf(state)
  const body = renderEnded(state, end, now, prefix)
  if (known !== null) return { kind: 'progress', ordinal: 2, intent: { ...threadOf(state), commentId: known, body } }
  return end.outcome === 'succeeded' ? null : { kind: 'comment', ordinal: 1, intent: { ...threadOf(state), body } }
}

/**
 * What is left to be said when the task has ended: a comment that turned out to be there still says "running", one that is
 * not there leaves a bad end unsaid, and what was not known when the last words were said may be known now. Null: nothing.
 */
export function wordsLeft(taskId: string, events: readonly RecordedEvent[], prefix: string): EffectProposal | null {
  const state = foldTask(events)
  const { effects, outcome } = state
  if (outcome === null) return null
  const first = effects[progressId(taskId)]
  const last = first?.state === 'confirmed' || first?.state === 'rejected' ? lastWords(state, outcome, outcome.at, prefix) : null
  if (last !== null && effects[effectId(taskId, last)] === undefined) return last
  return correction(events, state, outcome, prefix)
}

/** Of what is said, only where the result is can be learned later. */
function correction(
  events: readonly RecordedEvent[],
  state: TaskState,
  end: NonNullable<TaskState['outcome']>,
  prefix: string,
): EffectProposal | null {
  const saidAt = events.findLastIndex(event => event.type === 'effect.prepared' && event.payload !== null && isLastWord(event.payload))
  const event = events[saidAt]
  const said = event?.type === 'effect.prepared' && event.payload !== null ? state.effects[event.payload.effectId] : undefined
  if (said?.state !== 'confirmed') return null
  if (deliveryWords(state) === deliveryWords(foldTask(events.slice(0, saidAt + 1)))) return null
  const words = renderEnded(state, end, end.at, prefix)
  const ordinal = Number(said.key.split('-').at(-1)) + 1
  const intent = { ...threadOf(state), body: `${words}\n\nThis was found out after the end: a reason above says what was known then.` }
  return said.kind === 'comment'
    ? { kind: 'comment', ordinal, intent }
    : { kind: 'progress', ordinal, intent: { ...intent, commentId: commentOf(state) } }
}

/** Whether this effect is one that tells the thread how the task ended. */
export function isLastWord({ kind, key }: Pick<EffectState, 'kind' | 'key'>): boolean {
  return kind === 'comment' || (kind === 'progress' && key !== 'progress-1')
}

/** `since` is GitHub's time wherever it is known: by ours, a machine that is ahead would not find its own comment. */
export function threadOf({ accepted }: Pick<TaskState, 'accepted'>) {
  if (accepted === null) throw new Error('a task that was not accepted has no thread')
  const since = accepted.askedAt ?? new Date(accepted.at - workerLimits.clockMarginMs).toISOString()
  return { ...placeOf({ accepted }), number: accepted.subject?.number ?? 0, since }
}

/** The id of the progress comment on GitHub, once it is known to exist. */
export function commentOf({ effects }: TaskState): number | null {
  const effect = Object.values(effects).find(({ kind, key, state }) => kind === 'progress' && key === 'progress-1' && state === 'confirmed')
  const id = effect?.remote?.['id']
  return typeof id === 'number' ? id : null
}
