import { ulid } from 'ulid'
import type { LimitValues } from '../../config-schema/index.ts'
import { endOfCancel, foldTask, type NewEvent, type TaskState } from '../../domain/index.ts'
import { findDeadOwners, holdOwnerLock, type Ledger } from '../../ledger/index.ts'
import { hasUnkeptWork, markStale, taskFolder } from '../../worker/index.ts'

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
        payload: { ...endOf(state, taskFolder(dataDir, taskId)), summary: '' },
      },
    ]
    // A worker of this data folder makes the bundle: nobody is here to sign it.
    await markStale(taskFolder(dataDir, taskId), state.seq + events.length).catch(() => undefined)
    const appended = await ledger.append({ taskId, attempt: claim.attempt, actor: owner, at: now, expectedSeq: state.seq, events })
    return appended.kind === 'appended'
  } finally {
    lock.release()
  }
}

/** Nobody is there to collect what was done: a person must not look for a patch that was never made. */
function endOf(state: TaskState, taskDir: string) {
  const end = endOfCancel(state.cancel ?? { by: 'the operator', reason: '' })
  return hasUnkeptWork(state, taskDir) ? { ...end, reason: `${end.reason}; its process was dead, so what it had done is in no patch` } : end
}
