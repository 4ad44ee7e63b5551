import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { TaskState } from '../domain/index.ts'
import { diffTrees } from '../git/index.ts'
import type { TaskEnd } from './decide-end.ts'
import { report } from './report.ts'
import { Stopped } from './stopped.ts'
import type { Base, Task } from './task.ts'
import { OwnershipLost } from './task-log.ts'
import { writeTaskBundle } from './write-bundle.ts'

/** Keeps the patch, records the outcome, writes the bundle. Safe to repeat: an outcome is recorded once. */
export async function endTask(task: Task, base: Base, end: TaskEnd): Promise<TaskState> {
  await keepPatch(task, base)
  return await recordEnd(task, end)
}

/** What stopped the road before its end: a person, the clock, this worker, or a fault of ours. */
export async function endBroken(task: Task, error: unknown): Promise<TaskState> {
  if (error instanceof OwnershipLost) throw error
  if (error instanceof Stopped) return await endStopped(task, error)
  const message = error instanceof Error ? error.message : String(error)
  task.ports.logger.error({ error, task: task.id }, 'task broke')
  return await recordEnd(task, { outcome: 'errored', reason: message, summary: '' })
}

async function endStopped(task: Task, stopped: Stopped): Promise<TaskState> {
  if (stopped.kind === 'handed-back') throw stopped
  const { cancel } = await task.log.refresh()
  const summary = task.log.state().session?.ended?.text ?? ''
  if (stopped.kind === 'deadline') return await recordEnd(task, { outcome: 'timed-out', reason: 'the time was up', summary })
  return await recordEnd(task, { outcome: 'cancelled', reason: `cancelled by ${cancel?.by ?? 'a signal'}`, summary })
}

async function recordEnd(task: Task, end: TaskEnd): Promise<TaskState> {
  const { outcome, reason, summary } = end
  if (task.log.state().outcome === null) {
    await task.comment.finish(end)
    await task.log.record({ type: 'task.ended', commandId: `${task.id}:ended`, payload: { outcome, reason, summary } })
  }
  await writeTaskBundle(task.id, task.taskDir, task.ports)
  report(task, { kind: 'ended', outcome, reason })
  return task.log.state()
}

export function patchPath(taskDir: string): string {
  return path.join(taskDir, 'change.patch')
}

async function keepPatch(task: Task, base: Base): Promise<void> {
  const { change, workspace } = task.log.state()
  if (!change || !workspace || change.files.length === 0) return
  const { patch } = await diffTrees(base.store, workspace.baseTree, change.tree)
  if (patch) await writeFile(patchPath(task.taskDir), patch)
}
