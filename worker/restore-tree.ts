import { mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { planRestore } from '../git/index.ts'
import type { TreePlace } from './make-tree.ts'
import { openTaskSandbox } from './open-task-sandbox.ts'

/** Brings the work tree to a recorded tree inside a fresh sandbox; what setup made and git ignores stays. */
export async function restoreTree({ sandbox: sandboxPlace, store, workspace, workDir }: TreePlace, tree: string): Promise<void> {
  await mkdir(workDir, { recursive: true, mode: 0o711 })
  const plan = await planRestore({ workspace: { ...workspace, remove: async () => undefined }, store, tree, workDir })
  const runDir = path.join(workDir, 'restore-run')
  const sandbox = await openTaskSandbox(sandboxPlace, {
    profile: 'strict',
    network: { kind: 'none' },
    runDir,
    workspace: plan.workspace,
    mounts: plan.mounts,
    files: false,
    poolSize: 0,
  })
  try {
    const result = await sandbox.run({ argv: plan.argv })
    if (result.kind !== 'ended') throw new Error(`no sandbox to restore a tree in: ${result.reason}`)
    if (result.exitCode !== 0)
      throw new Error(`the work tree could not be restored: ${Buffer.from(result.output).toString('utf8').slice(-500)}`)
  } finally {
    await sandbox.close()
    await rm(runDir, { recursive: true, force: true })
    await plan.remove()
  }
}
