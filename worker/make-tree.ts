import { mkdir } from 'node:fs/promises'
import { type AdoptedTree, adoptTree, planTree, type Store, type TreeRules, type TreeSelection, type Workspace } from '../git/index.ts'
import { crashpoint } from '../telemetry/index.ts'
import type { SandboxPlace } from './open-task-sandbox.ts'
import { runPlan, tailOf } from './run-plan.ts'

/** Plain data, so that a session's thread can make trees too. */
export type TreePlace = { sandbox: SandboxPlace; store: Store; workspace: WorkspaceData; workDir: string; rules: TreeRules }
type WorkspaceData = Omit<Workspace, 'remove'>

/**
 * The tree of a work tree that the agent may have touched: made by a fresh sandbox in which none of its processes lives,
 * with a gitdir of the host's own, then checked and taken over object by object.
 */
export async function makeTree({ sandbox, store, workspace, workDir, rules }: TreePlace, selection: TreeSelection): Promise<AdoptedTree> {
  await mkdir(workDir, { recursive: true, mode: 0o711 })
  const plan = planTree({ workspace: { ...workspace, remove: async () => undefined }, store, selection, workDir })
  try {
    return await runPlan(sandbox, plan, workDir, async result => {
      if (result.exitCode !== 0) return { kind: 'refused', path: '', reason: `the tree could not be made: ${tailOf(result)}` }
      crashpoint('tree.made')
      return await adoptTree({ store, plan, rules, baseTree: workspace.baseTree })
    })
  } finally {
    await plan.remove()
  }
}
