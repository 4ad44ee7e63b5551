import { ulid } from 'ulid'
import type { LimitValues } from '../../config-schema/index.ts'
import { foldTask, type NewEvent } from '../../domain/index.ts'
import { findDeadOwners, holdOwnerLock, type Ledger } from '../../ledger/index.ts'

/**
 * Ends a cancelled task that nobody works on: it waits, or its process is dead. One that a living process holds is left
 * to that process, and one with an effect under way to a worker, who must first read back what became of it.
 */
export async function endOrphan(ledger: Ledger, dataDir: string, taskId: string, limits: LimitValues): Promise<boolean> {
  const effects = Object.values(foldTask(await ledger.readEvents(taskId)).effects)
  if (effects.some(effect => effect.attempt > 0 && effect.state !== 'confirmed' && effect.state !== 'rejected')) return false
  const owner = `stop-${ulid()}`
  const lock = holdOwnerLock(dataDir, owner)
  try {
    const now = Date.now()
    const deadOwners = findDeadOwners(dataDir, await ledger.runningOwners())
    const claim = await ledger.claimTask(taskId, {
      owner,
      now,
      leaseUntil: now + limits.leaseMs,
      recoveriesMax: limits.recoveriesMax,
      deadOwners,
    })
    if (claim === null) return false
    const state = foldTask(await ledger.readEvents(taskId))
    const events: NewEvent[] = [
      { type: 'attempt.started', commandId: `${taskId}:attempt-${claim.attempt}`, payload: { owner, recovers: claim.recovers } },
      {
        type: 'task.ended',
        commandId: `${taskId}:ended`,
        payload: { outcome: 'cancelled', reason: `cancelled by ${state.cancel?.by ?? 'the operator'}`, summary: '' },
      },
    ]
    const appended = await ledger.append({ taskId, attempt: claim.attempt, actor: owner, at: now, expectedSeq: state.seq, events })
    return appended.kind === 'appended'
  } finally {
    lock.release()
  }
}
