import type { RefusalReason } from '../domain/index.ts'
import type { Ledger } from '../ledger/index.ts'
import { laneOf } from './lane.ts'
import { appLimits } from './limits.ts'
import type { Asked } from './read-event.ts'

/** Whether this person was told this refusal, in words, in this thread within the last `quietMs`. */
export async function wasSaid(
  asked: Asked,
  reason: RefusalReason,
  quietMs: number,
  { ledger, now }: { ledger: Pick<Ledger, 'tasks' | 'readEvents'>; now(): number },
): Promise<boolean> {
  const since = now() - quietMs
  const tasks = await ledger.tasks({ laneKey: laneOf(asked), needsWorker: false, limit: appLimits.tasksLookedAtMax })
  for (const { taskId } of tasks.filter(({ acceptedAt }) => acceptedAt > since)) {
    const [first, ...rest] = await ledger.readEvents(taskId)
    if (first?.type !== 'task.refused' || first.payload?.requester.id !== asked.actor.id || first.payload.reason !== reason) continue
    if (rest.some(({ type, payload }) => type === 'effect.prepared' && payload !== null && isAnswer(payload))) return true
  }
  return false
}

function isAnswer({ kind, key }: { kind: string; key: string }): boolean {
  return (kind === 'comment' || kind === 'reply') && key.endsWith('-1')
}
