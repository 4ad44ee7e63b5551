import path from 'node:path'
import { createBackOff, type RetryLimits, sleepUnlessStopped } from '../effects/index.ts'
import { listTasks, removeLeftovers, removeRun, removeScratchFolders, removeTask } from '../git/index.ts'
import { findDeadOwners } from '../ledger/index.ts'
import { removeUnfinishedShared, sweepOrphans } from '../sandbox/index.ts'
import { workerLimits } from './limits.ts'
import { namesIn } from './names-in.ts'
import { sharedFolder } from './open-task-workspace.ts'
import type { WorkerPorts } from './ports.ts'
import { removeParts } from './replace-file.ts'
import { dropStaleBefore, listStale } from './stale-bundles.ts'
import { type SweepPorts, sweepEffects } from './sweep-effects.ts'
import { taskFolder, tasksFolder } from './task-folder.ts'
import { writeTaskBundle } from './write-bundle.ts'

export type Sweep = {
  /** One whole sweep; never throws: a part that fails is logged and keeps no other from its turn. Safe to repeat. */
  run(): Promise<void>
  /** Ends its waits and resolves when nothing of it runs any more. */
  stop(): Promise<void>
}

/** Does what a process that died left undone (effects, bundles, folders) and drops what is kept no longer. */
export function createSweep(ports: WorkerPorts): Sweep {
  const stopping = new AbortController()
  // Of the sweep that is running: they are read at its start.
  let retries: RetryLimits = { retryWaitMs: 0, retryWaitMsMax: 0, rateLimitWaitMsMax: 0 }
  const sweepPorts: SweepPorts = {
    ...ports,
    backOff: createBackOff(() => retries, ports.now),
    sleep: ms => sleepUnlessStopped(ms, stopping.signal),
    stop: stopping.signal,
  }
  const tidied = new Map<string, number>()
  const written = { last: '' }
  let running: Promise<void> = Promise.resolve()
  async function sweep() {
    const { limits } = await ports.settings()
    retries = limits
    const parts: Record<string, () => Promise<unknown>> = {
      deliveries: () => ports.ledger.pruneDeliveries(ports.now() - limits.deliveryKeepMs),
      orphans: async () => {
        for (let slot = 0; slot < limits.workerSlots; slot++) endOrphans(slot, ports)
      },
      shared: async () => removeUnfinishedShared(sharedFolder(ports.dataDir)),
      scratch: async () => removeScratchFolders(ports.now()),
      bundles: () => writeBundles(sweepPorts, written, limits),
      runs: () => removeRuns(sweepPorts),
      stores: () => removeStores(sweepPorts, tidied, limits),
      effects: () => sweepEffects(sweepPorts),
    }
    for (const [part, work] of Object.entries(parts)) {
      if (stopping.signal.aborted) return
      await work().catch(error => ports.logger.error({ error, part }, 'a part of the sweep failed; the next sweep tries again'))
    }
  }
  return {
    run() {
      running = running.then(sweep).catch(error => ports.logger.error({ error }, 'the sweep failed; the next one tries again'))
      return running
    },
    async stop() {
      stopping.abort()
      await running
    },
  }
}

/** One task after another until the process is to go; one that fails is logged and keeps no other from its turn. */
async function forEachTask(
  tasks: readonly string[],
  { stop, logger }: SweepPorts,
  part: string,
  work: (taskId: string) => Promise<void>,
): Promise<void> {
  for (const task of tasks) {
    if (stop.aborted) return
    await work(task).catch(error => logger.error({ error, part, task }, 'a task could not be tidied; the next sweep tries again'))
  }
}

/**
 * Those that are announced and were not made: by processes that died, or found a full disk. One that always fails must not
 * hold the others back, so each sweep begins behind the last one tried.
 */
async function writeBundles(ports: SweepPorts, written: { last: string }, { leaseMs }: { leaseMs: number }): Promise<void> {
  const { ledger, dataDir, now } = ports
  const lacking = [...new Set((await listStale(tasksFolder(dataDir))).map(({ taskId }) => taskId))].sort()
  const [before, after] = [lacking.filter(taskId => taskId <= written.last), lacking.filter(taskId => taskId > written.last)]
  await forEachTask([...after, ...before].slice(0, workerLimits.bundlesAtOnceMax), ports, 'bundles', async taskId => {
    written.last = taskId
    const folder = taskFolder(dataDir, taskId)
    const row = await ledger.task(taskId)
    // One that has not ended gets its bundle at its end.
    if (row !== null && row.state !== 'ended') return
    if (row !== null) await writeTaskBundle(taskId, folder, ports)
    await dropStaleBefore(folder, now() - leaseMs)
  })
}

/** Of ended tasks all, of a task whose worker died what its last attempt left: the next one makes its own. */
async function removeRuns(ports: SweepPorts): Promise<void> {
  const { ledger, dataDir } = ports
  const dead = findDeadOwners(dataDir, await ledger.runningOwners())
  await forEachTask(await namesIn(path.join(dataDir, 'runs')), ports, 'runs', async taskId => {
    const row = await ledger.task(taskId)
    const folder = path.join(dataDir, 'runs', taskId)
    if (row === null || row.state === 'ended') await removeRun(folder)
    else if (row.owner !== null && dead.includes(row.owner)) await removeRun(path.join(folder, String(row.attempts)))
  })
}

/**
 * The git half of ended tasks. What dead attempts left beside a store goes at once; the store itself, snapshots and commit,
 * after its time: nothing needs it then. The patch and the bundle lie elsewhere, and what was pushed is at GitHub.
 * `tidied` remembers when a task ended, so that a sweep asks about each folder once.
 */
async function removeStores(
  ports: SweepPorts,
  tidied: Map<string, number>,
  { leaseMs, storeKeepMs }: { leaseMs: number; storeKeepMs: number },
): Promise<void> {
  const { ledger, dataDir, now } = ports
  const madeAt = new Map(listTasks(dataDir).map(task => [task.taskId, task.madeAt]))
  await forEachTask([...madeAt.keys()], ports, 'stores', async taskId => {
    const endedAt = tidied.get(taskId) ?? (await endOf(taskId))
    // Whoever recorded the end may still be tidying up after itself.
    if (endedAt === null || endedAt > now() - leaseMs) return
    if (!tidied.has(taskId)) {
      await removeLeftovers({ dataDir, taskId })
      await removeParts(taskFolder(dataDir, taskId), now() - leaseMs)
    }
    tidied.set(taskId, endedAt)
    if (endedAt > now() - storeKeepMs) return
    await removeTask({ dataDir, taskId })
    tidied.delete(taskId)
  })

  /** Null: it has not ended. A folder no task is known for counts from when it was made. */
  async function endOf(taskId: string): Promise<number | null> {
    const row = await ledger.task(taskId)
    return row === null ? (madeAt.get(taskId) ?? null) : row.endedAt
  }
}

/** Sandboxes whose worker died: their parent is gone, they carry our mark. Those of living workers are left alone. */
function endOrphans(slot: number, ports: WorkerPorts): void {
  const orphans = sweepOrphans(ports.userOfSlot(slot))
  if (orphans.length > 0) ports.logger.warn({ slot, orphans: orphans.length }, 'processes of a dead worker were ended')
}
