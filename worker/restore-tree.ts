import { planRestore } from '../git/index.ts'
import { passable } from '../sandbox/index.ts'
import type { TreePlace } from './make-tree.ts'
import { runPlan, tailOf } from './run-plan.ts'

/** Brings the work tree to a recorded tree inside a fresh sandbox; what setup made and git ignores stays. */
export async function restoreTree({ sandbox, store, workspace, workDir }: TreePlace, tree: string): Promise<void> {
  passable(workDir)
  const plan = await planRestore({ workspace: { ...workspace, remove: async () => undefined }, store, tree, workDir })
  try {
    await runPlan({ ...sandbox, wallMs: store.mirror.wallMs }, plan, workDir, async result => {
      if (result.exitCode !== 0) throw new Error(`the work tree could not be restored: ${tailOf(result)}`)
    })
  } finally {
    await plan.remove()
  }
}
