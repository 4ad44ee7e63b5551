import path from 'node:path'
import type { SandboxReport } from '../domain/index.ts'
import { openTaskSandbox, type SandboxPlace, workOptions } from './open-task-sandbox.ts'
import type { Base, Task, TaskWorkspace } from './task.ts'

/** What the task's own profile really gives here, measured by running nothing in it; refuses the task when that is too little. */
export async function probeSandbox(place: SandboxPlace, workspace: TaskWorkspace, task: Task, base: Base): Promise<SandboxReport> {
  const sandbox = await openTaskSandbox(place, {
    profile: base.config.profile.value,
    ...workOptions(workspace, path.join(task.runDir, 'probe')),
  })
  try {
    if (sandbox.unavailable) throw new Error(`no sandbox here, so nothing is run: ${sandbox.unavailable.reason}`)
    return sandbox.report
  } finally {
    await sandbox.close()
  }
}
