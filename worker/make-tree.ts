import { mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { type AdoptedTree, adoptTree, planTree, type Store, type TreeRules, type TreeSelection, type Workspace } from '../git/index.ts'
import { crashpoint } from '../telemetry/index.ts'
import { openTaskSandbox, type SandboxPlace } from './open-task-sandbox.ts'

/** Plain data, so that a session's thread can make trees too. */
export type TreePlace = { sandbox: SandboxPlace; store: Store; workspace: WorkspaceData; workDir: string; rules: TreeRules }
export type WorkspaceData = Omit<Workspace, 'remove'>

/**
 * The tree of a work tree that the agent may have touched: made by a fresh sandbox in which none of its processes lives,
 * with a gitdir of the host's own, then checked and taken over object by object.
 */
export async function makeTree(
  { sandbox: sandboxPlace, store, workspace, workDir, rules }: TreePlace,
  selection: TreeSelection,
): Promise<AdoptedTree> {
  await mkdir(workDir, { recursive: true, mode: 0o711 })
  const plan = planTree({ workspace: { ...workspace, remove: async () => undefined }, store, selection, workDir })
  const runDir = path.join(workDir, path.basename(path.dirname(plan.quarantine)), 'run')
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
    const result = await sandbox.run({ argv: plan.argv, env: plan.env })
    if (result.kind !== 'ended') throw new Error(`no sandbox to make a tree in: ${result.reason}`)
    if (result.exitCode !== 0)
      return { kind: 'refused', path: '', reason: `the tree could not be made: ${Buffer.from(result.output).toString('utf8').slice(-500)}` }
    crashpoint('tree.made')
    return await adoptTree({ store, plan, rules, baseTree: workspace.baseTree })
  } finally {
    await sandbox.close()
    await rm(runDir, { recursive: true, force: true })
    await plan.remove()
  }
}
