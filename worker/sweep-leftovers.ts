import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { removeRun } from '../git/index.ts'
import { sweepOrphans } from '../sandbox/index.ts'
import type { WorkerPorts } from './ports.ts'
import { bundlePath, writeTaskBundle } from './write-bundle.ts'

const endedAtOnceMax = 100

/** Does what a process that died after an outcome left undone (bundle, folders) and drops what is kept no longer. Safe to repeat. */
export async function sweepLeftovers(ports: WorkerPorts): Promise<void> {
  const { limits } = await ports.settings()
  await ports.ledger.pruneDeliveries(ports.now() - limits.deliveryKeepMs)
  for (let slot = 0; slot < limits.workerSlots; slot++) endOrphans(slot, ports)
  const ended = await ports.ledger.tasks({ state: 'ended', needsWorker: true, limit: endedAtOnceMax })
  for (const { taskId, erasedAt } of ended) {
    const taskDir = path.join(ports.dataDir, 'tasks', taskId)
    if (erasedAt === null && !existsSync(bundlePath(taskDir))) await writeTaskBundle(taskId, taskDir, ports)
  }
  for (const taskId of await runFolders(ports.dataDir)) {
    const row = await ports.ledger.task(taskId)
    if (row === null || row.state === 'ended') await removeRun(path.join(ports.dataDir, 'runs', taskId))
  }
}

/** Sandboxes whose worker died: their parent is gone, they carry our mark. Those of living workers are left alone. */
function endOrphans(slot: number, ports: WorkerPorts): void {
  const orphans = sweepOrphans(ports.userOfSlot(slot))
  if (orphans.length > 0) ports.logger.warn({ slot, orphans: orphans.length }, 'processes of a dead worker were ended')
}

async function runFolders(dataDir: string): Promise<string[]> {
  try {
    return await readdir(path.join(dataDir, 'runs'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
