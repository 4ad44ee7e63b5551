import { deliveryWords, type EffectState, foldTask, isProblemCode, type RecordedEvent, type TaskState } from '../domain/index.ts'
import { type EffectProposal, effectId } from '../effects/index.ts'
import { checkRunEnd, isUnderWay } from './check-run.ts'
import { placeOf } from './effect-ports.ts'
import { workerLimits } from './limits.ts'
import type { WorkerPorts } from './ports.ts'
import { pushedCommit, renderEnded } from './render-ended.ts'
import { renderResult } from './render-result.ts'
import { runLinks } from './run-links.ts'
import type { EndSettings, EndView } from './words-of-end.ts'

export const progressId = (taskId: string) => `${taskId}:progress:1`

/**
 * What the thread is told at the end of a task: a message of its own where nothing else is the message (a commit on somebody's
 * branch, a patch, a bad end without a fresh progress comment), and the last text of the progress comment where there is one. None:
 * the pull request, the suggestions, the answer, or the newer task, is the message.
 */
export function lastWords(view: EndView): EffectProposal[] {
  const { state, end } = view
  const commentId = commentOf(state)
  const edit: EffectProposal[] =
    commentId === null ? [] : [{ kind: 'progress', ordinal: 2, intent: { ...threadOf(state), commentId, body: renderEnded(view) } }]
  if (pushedCommit(state) !== null) return [say(view, renderResult(view)), ...edit]
  if (end.patchOnly !== undefined) return [say(view, renderEnded(view)), ...edit]
  if (commentId !== null && isBad[end.outcome] && commentAgeMs(view) > workerLimits.commentFreshMs)
    return [say(view, renderEnded(view)), ...edit]
  const isSuggested = Object.values(state.effects).some(({ kind, state: phase }) => kind === 'review' && phase === 'confirmed')
  const isQuiet = commentId !== null || isSuggested || end.outcome === 'succeeded' || end.outcome === 'superseded'
  return isQuiet ? edit : [say(view, renderEnded(view))]
}

/** An edit reaches nobody; of what failed while the comment is still fresh, whoever was told of it is about to look. */
const isBad: Readonly<Record<EndView['end']['outcome'], boolean>> = {
  ...{ failed: true, errored: true, 'timed-out': true, refused: true },
  ...{ succeeded: false, cancelled: false, superseded: false },
}

function commentAgeMs({ taskId, state, now }: EndView): number {
  return now - (state.effects[progressId(taskId)]?.updatedAt ?? now)
}

/** Where it was asked: in the thread of a review while that is there, else in the conversation. */
export function say({ taskId, state }: Pick<EndView, 'taskId' | 'state'>, body: string): EffectProposal {
  const threadId = state.accepted?.source?.threadId
  const reply = threadId === undefined ? null : ({ kind: 'reply', ordinal: 1, intent: { ...threadOf(state), threadId, body } } as const)
  if (reply && state.effects[effectId(taskId, reply)]?.state !== 'rejected') return reply
  return { kind: 'comment', ordinal: 1, intent: { ...threadOf(state), body } }
}

/**
 * What is left to be said when the task has ended: a comment that turned out to be there still says "running", one that is
 * not there leaves a bad end unsaid, and what was not known when the last words were said may be known now.
 */
export function wordsLeft(
  taskId: string,
  events: readonly RecordedEvent[],
  settings: EndSettings & Pick<WorkerPorts, 'link'>,
): EffectProposal[] {
  const state = foldTask(events)
  const { effects, outcome } = state
  if (outcome === null) return []
  const links = runLinks(taskId, state, settings.link)
  const view = { taskId, state, end: endOf(outcome), now: outcome.at, links, ...settings }
  const first = effects[progressId(taskId)]?.state
  const hasReply = Object.values(effects).some(({ kind, attempt }) => kind === 'reply' && attempt > 0)
  const words = first === 'confirmed' || first === 'rejected' || hasReply ? lastWords(view) : []
  const check = isUnderWay(state) ? null : checkRunEnd(view)
  const left = check === null ? words : [...words, check]
  const unsaid = left.filter(proposal => effects[effectId(taskId, proposal)] === undefined)
  if (unsaid.length > 0) return unsaid
  const corrected = correction(events, view)
  return corrected === null ? [] : [corrected]
}

function endOf({ outcome, reason, summary, patchOnly, code }: NonNullable<TaskState['outcome']>): EndView['end'] {
  return { outcome, reason, summary, ...(patchOnly === undefined ? {} : { patchOnly }), ...(isProblemCode(code) ? { code } : {}) }
}

/** Of what is said, only where the result is can be learned later. */
function correction(events: readonly RecordedEvent[], view: EndView): EffectProposal | null {
  const { state, taskId } = view
  const saidAt = events.findLastIndex(
    event => event.type === 'effect.prepared' && event.attempt > 0 && event.payload !== null && tellsThread(event.payload),
  )
  const event = events[saidAt]
  const said = event?.type === 'effect.prepared' && event.payload !== null ? state.effects[event.payload.effectId] : undefined
  if (said?.state !== 'confirmed') return null
  if (deliveryWords(state) === deliveryWords(foldTask(events.slice(0, saidAt + 1)))) return null
  const body = `${renderEnded(view)}\n\nThis was found out after the end: a reason above says what was known then.`
  const intent = { ...threadOf(state), body }
  const kind = said.kind === 'progress' ? 'progress' : 'comment'
  // The app may have said something of its own in between.
  let ordinal = Number(said.key.split('-').at(-1)) + 1
  while (state.effects[effectId(taskId, { kind, ordinal })]) ordinal += 1
  return kind === 'comment' ? { kind, ordinal, intent } : { kind, ordinal, intent: { ...intent, commentId: commentOf(state) } }
}

/** Whether this effect is one that tells the thread how the task ended. */
function tellsThread({ kind, key }: Pick<EffectState, 'kind' | 'key'>): boolean {
  return kind === 'comment' || kind === 'reply' || (kind === 'progress' && key !== 'progress-1')
}

/** What is still said after the end, whoever is left to say it. */
export function isLastWord(effect: Pick<EffectState, 'kind' | 'key'>): boolean {
  return tellsThread(effect) || (effect.kind === 'check-run' && effect.key !== 'check-run-1')
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
