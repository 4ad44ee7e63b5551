import { handOver } from '../agent/index.ts'
import { type Claim, findDeadOwners } from '../ledger/index.ts'
import type { Queue } from '../queue/index.ts'
import { crashpoint } from '../telemetry/index.ts'
import { every } from './every.ts'
import { executeTask } from './execute-task.ts'
import type { WorkerPorts } from './ports.ts'
import { Stopped } from './stopped.ts'
import { createSweep } from './sweep-leftovers.ts'
import { OwnershipLost } from './task-log.ts'
import { watchClaim } from './watch-claim.ts'

export type ClaimLoop = {
  /** Stops claiming, hands running tasks back and resolves when their sessions are gone. */
  drain(): Promise<void>
  /** UTC milliseconds: when it last was done with a look for work, whatever came of it. */
  turnedAt(): number
  /** Tasks that are worked on. */
  running(): number
}

type Running = { cancel: AbortController; done: Promise<void> }

/**
 * One worker: claims what the ledger gives, up to its slots, whenever the bell rings and at every sweep, and takes over
 * from owners whose kernel lock is gone.
 */
export function startClaimLoop(queue: Queue, ports: WorkerPorts): ClaimLoop {
  const running = new Map<string, Running>()
  let draining = false
  let looking: Promise<void> | null = null
  let lookAgain = false
  let turnedAt = ports.now()

  function look() {
    if (looking) lookAgain = true
    looking ??= claimAll()
      .catch(error => ports.logger.error({ error }, 'claiming failed; the next sweep tries again'))
      .finally(() => {
        looking = null
        turnedAt = ports.now()
        if (lookAgain && !draining) {
          lookAgain = false
          look()
        }
      })
  }
  async function claimAll() {
    const { limits } = await ports.settings()
    while (!draining && running.size < limits.workerSlots) {
      const now = ports.now()
      const deadOwners = findDeadOwners(ports.dataDir, await ports.ledger.runningOwners())
      const claim = await ports.ledger.claimNext({
        owner: ports.owner,
        now,
        leaseUntil: now + limits.leaseMs,
        recoveriesMax: limits.recoveriesMax,
        deadOwners,
      })
      if (claim === null) return
      // Taken while the worker was told to go: given back at once.
      if (draining) return await ports.ledger.releaseTask(claim)
      crashpoint('claim.after')
      ports.claimed?.(claim)
      start(claim)
    }
  }
  function start(claim: Claim) {
    const key = `${claim.taskId}/${claim.attempt}`
    const { slot, release } = ports.takeSlot()
    const cancel = new AbortController()
    const stopWatching = watchClaim(claim, cancel, ports)
    const done = attemptTask(claim, cancel.signal, { ...ports, user: ports.userOfSlot(slot) }).finally(() => {
      stopWatching()
      release()
      running.delete(key)
      if (!draining) look()
    })
    running.set(key, { cancel, done })
  }

  const stopListening = queue.listen(look)
  const stopSweep = every(
    ports,
    limits => Math.min(limits.sweepMs, limits.livenessMs),
    async () => look(),
  )
  const sweep = createSweep(ports)
  const stopTidying = every(
    ports,
    limits => limits.sweepMs,
    () => sweep.run(),
  )
  look()
  return {
    turnedAt: () => turnedAt,
    running: () => running.size,
    async drain() {
      draining = true
      stopListening()
      stopSweep()
      stopTidying()
      for (const { cancel } of running.values()) cancel.abort(handOver)
      await looking
      for (const { cancel } of running.values()) cancel.abort(handOver)
      await Promise.all([sweep.stop(), ...[...running.values()].map(({ done }) => done)])
    },
  }
}

/** Never throws. */
async function attemptTask(claim: Claim, cancel: AbortSignal, ports: WorkerPorts): Promise<void> {
  try {
    await executeTask(claim, cancel, ports).catch(error => left(claim, error, ports))
  } catch (error) {
    ports.logger.error({ error, task: claim.taskId }, 'an attempt could not be given back; its lease runs out')
  }
}

/** An attempt that did not end its task: handed back in good order, taken over, or broken beyond recording it. */
async function left(claim: Claim, error: unknown, { ledger, logger }: WorkerPorts): Promise<void> {
  if (error instanceof Stopped) await ledger.releaseTask(claim)
  else if (error instanceof OwnershipLost) logger.warn({ error, task: claim.taskId }, 'task lost to a newer attempt')
  else logger.error({ error, task: claim.taskId }, 'task left to the sweep')
}
