import path from 'node:path'
import { diffTrees } from '../git/index.ts'
import { crashpoint } from '../telemetry/index.ts'
import { replaceFile } from './replace-file.ts'
import type { Base, Task } from './task.ts'

/** A file that is there is the whole patch: others take it for "the work is kept". */
export function patchPath(taskDir: string): string {
  return path.join(taskDir, 'change.patch')
}

/** The change as a file, as soon as there is one: however the task ends, the work is not lost. Null change = no file. */
export async function keepPatch(task: Pick<Task, 'id' | 'log' | 'ports' | 'taskDir'>, base: Pick<Base, 'store'>): Promise<void> {
  const { change, workspace } = task.log.state()
  if (!change || !workspace || change.files.length === 0) return
  const { patch } = await diffTrees(base.store, change.onto?.tree ?? workspace.baseTree, change.tree)
  crashpoint('patch.beforeWrite')
  if (patch) await replaceFile(patchPath(task.taskDir), patch)
  else task.ports.logger.warn({ task: task.id }, 'the patch is too large to be kept as a file; the commit has it')
}
