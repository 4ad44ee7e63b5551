import { apply, mayDeliver } from './apply.ts'
import { decideUnanswered, type TaskEnd } from './decide-end.ts'
import { say } from './last-words.ts'
import { renderAnswer } from './render-answer.ts'
import { standingNow } from './standing.ts'
import { goOn, switchedOff } from './stopped.ts'
import type { Task } from './task.ts'
import { viewOf } from './words-of-end.ts'

/** The end of a question's road: its answer as the one message, where it was asked. Nothing is collected, checked or pushed. */
export async function answer(task: Task): Promise<TaskEnd> {
  if (task.stop.reason === switchedOff || !task.log.state().session?.ended) goOn(task)
  const unanswered = decideUnanswered(task.log.state())
  if (unanswered) return unanswered
  const end: TaskEnd = { outcome: 'succeeded', reason: 'answered', summary: task.log.state().session?.ended?.text ?? '' }
  if (task.accepted.delivery !== 'github') return end
  await mayDeliver(task)
  const standing = isBegun(task) ? null : await standingNow(task)
  if (standing) return { ...end, outcome: 'failed', code: standing.code, reason: `the answer was not posted: ${standing.why}` }
  const { state, reason } = await post(task, renderAnswer(viewOf(task, end)))
  if (state === 'confirmed') return end
  if (state === 'unknown')
    return { ...end, outcome: 'errored', code: 'answer-unknown', reason: `it is not known whether the answer arrived: ${reason}` }
  return { ...end, outcome: 'failed', code: 'answer-not-posted', reason: `the answer could not be posted: ${reason}` }
}

function isBegun({ log }: Task): boolean {
  return Object.values(log.state().effects).some(({ kind, attempt }) => attempt > 0 && (kind === 'comment' || kind === 'reply'))
}

/** The thread of a review may be gone by now; the conversation it belongs to is still there. */
async function post(task: Task, body: string) {
  const first = say({ taskId: task.id, state: task.log.state() }, body)
  const settled = await apply(task, null, first)
  if (settled.state !== 'rejected' || first.kind !== 'reply') return settled
  return await apply(task, null, say({ taskId: task.id, state: task.log.state() }, body))
}
