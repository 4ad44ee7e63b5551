import type { Claim } from '../ledger/index.ts'
import { every } from './every.ts'
import type { WorkerPorts } from './ports.ts'
import { switchedOff } from './stopped.ts'
import { OwnershipLost } from './task-log.ts'

export type WatchPorts = Pick<WorkerPorts, 'ledger' | 'logger' | 'settings' | 'now'>

/**
 * Keeps one attempt alive while it is worked on: renews its lease, and carries to it what others recorded about its task,
 * a cancel above all, and the kill switch, which must not wait for the end of a command. Returns how to stop watching.
 */
export function watchClaim(claim: Claim, cancel: AbortController, ports: WatchPorts): () => void {
  const stopRenewing = every(
    ports,
    limits => limits.leaseMs / 5,
    async () => {
      const { limits } = await ports.settings()
      if (await ports.ledger.renewLease(claim, ports.now() + limits.leaseMs)) return
      cancel.abort(new OwnershipLost(`task ${claim.taskId} has a newer attempt`))
    },
  )
  let seenSeq = 0
  const stopLooking = every(
    ports,
    limits => limits.livenessMs,
    async () => {
      if ((await ports.ledger.switch('runs'))?.value === 'pulled') cancel.abort(switchedOff)
      const row = await ports.ledger.task(claim.taskId)
      if (!row || row.lastSeq === seenSeq) return
      const events = await ports.ledger.readEvents(claim.taskId, seenSeq)
      seenSeq = events.at(-1)?.seq ?? seenSeq
      if (events.some(event => event.type === 'cancel.requested')) cancel.abort(new Error('cancel was asked for'))
    },
  )
  return () => {
    stopRenewing()
    stopLooking()
  }
}
