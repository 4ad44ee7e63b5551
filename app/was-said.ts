import type { RefusalReason } from '../domain/index.ts'
import type { Ledger } from '../ledger/index.ts'
import { appLimits } from './limits.ts'
import { laneOf } from './propose-task.ts'
import type { CommentEvent } from './read-event.ts'

/** Whether this person was told this refusal, in words, in this thread within the last `quietMs`. */
export async function wasSaid(
  event: CommentEvent,
  reason: RefusalReason,
  quietMs: number,
  { ledger, now }: { ledger: Pick<Ledger, 'tasks' | 'readEvents'>; now(): number },
): Promise<boolean> {
  const since = now() - quietMs
  const tasks = await ledger.tasks({ laneKey: laneOf(event), needsWorker: false, limit: appLimits.tasksLookedAtMax })
  for (const { taskId } of tasks.filter(({ acceptedAt }) => acceptedAt > since)) {
    const [first, ...rest] = await ledger.readEvents(taskId)
    if (first?.type !== 'task.refused' || first.payload?.requester.id !== event.actor.id || first.payload.reason !== reason) continue
    if (rest.some(({ type, payload }) => type === 'effect.prepared' && payload?.kind === 'comment' && payload.key === 'comment-1'))
      return true
  }
  return false
}
