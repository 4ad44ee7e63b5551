import type { TaskState } from '../domain/index.ts'
import type { EffectProposal } from '../effects/index.ts'
import type { TaskEnd } from './decide-end.ts'
import { placeOf } from './effect-ports.ts'
import { workerLimits } from './limits.ts'
import { renderEnded } from './render-progress.ts'

export const progressId = (taskId: string) => `${taskId}:progress:1`

/**
 * What the thread is told at the end of a task: the last text of its progress comment where there is one, a comment of its
 * own for a bad end that had none; null: the pull request is the message. At most one of them is ever made.
 */
export function lastWords(state: TaskState, end: TaskEnd, now: number, prefix: string): EffectProposal | null {
  const known = commentOf(state)
  const body = renderEnded(state, end, now, prefix)
  if (known !== null) return { kind: 'progress', ordinal: 2, intent: { ...threadOf(state), commentId: known, body } }
  return end.outcome === 'succeeded' ? null : { kind: 'comment', ordinal: 1, intent: { ...threadOf(state), body } }
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
