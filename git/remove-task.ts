import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { removeRun } from './remove-run.ts'
import { taskFolder, tasksFolder } from './store.ts'

/** The tasks that have something here and since when, for whoever knows which of them still need it. */
export function listTasks(dataDir: string): { taskId: string; madeAt: number }[] {
  const folder = tasksFolder(dataDir)
  if (!existsSync(folder)) return []
  return readdirSync(folder).flatMap(taskId => {
    const stat = statSync(join(folder, taskId), { throwIfNoEntry: false })
    return stat ? [{ taskId, madeAt: stat.mtimeMs }] : []
  })
}

/**
 * Removes what attempts of a task that are dead, or fenced off, have left beside its store: host parts of workspaces,
 * objects that were never adopted, indexes of calls that did not end. The store with its snapshots stays. Safe to repeat.
 */
export async function removeLeftovers({ dataDir, taskId }: { dataDir: string; taskId: string }): Promise<void> {
  const folder = taskFolder(dataDir, taskId)
  if (!existsSync(folder)) return
  for (const name of readdirSync(folder)) if (name !== 'store.git') await removeRun(join(folder, name))
  const store = join(folder, 'store.git')
  if (!existsSync(store)) return
  for (const name of readdirSync(store)) {
    if (/^incoming-|\.index(\.lock)?$/.test(name)) rmSync(join(store, name), { recursive: true, force: true })
  }
}

/** Removes a task's store and all beside it: its snapshots and commits are gone. Safe to repeat. */
export async function removeTask({ dataDir, taskId }: { dataDir: string; taskId: string }): Promise<void> {
  await removeRun(taskFolder(dataDir, taskId))
}
