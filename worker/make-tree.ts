import {
  type AdoptedTree,
  adoptTree,
  planRights,
  planTree,
  type Store,
  type TreePlan,
  type TreeRules,
  type TreeSelection,
  type Workspace,
} from '../git/index.ts'
import { passable } from '../sandbox/index.ts'
import { crashpoint } from '../telemetry/index.ts'
import type { SandboxPlace } from './open-task-sandbox.ts'
import { openPlan, runPlan, tailOf } from './run-plan.ts'

/** Plain data, so that a session's thread can make trees too. */
export type TreePlace = { sandbox: SandboxPlace; store: Store; workspace: WorkspaceData; workDir: string; rules: TreeRules }
type WorkspaceData = Omit<Workspace, 'remove'>

/**
 * The tree of a work tree that the agent may have touched: made by a fresh sandbox in which none of its processes lives,
 * with a gitdir of the host's own, then checked and taken over object by object.
 */
export async function makeTree(place: TreePlace, selection: TreeSelection): Promise<AdoptedTree> {
  const maker = await openTreeMaker(place, selection, 0)
  try {
    return await maker.make(selection.include)
  } finally {
    await maker.close()
  }
}

export type TreeMaker = {
  /** `include`: paths that are in the tree although git ignores them. */
  make(include: readonly string[] | undefined): Promise<AdoptedTree>
  close(): Promise<void>
}

/** Makes one tree after another of the same work tree, each in a fresh sandbox and a quarantine of its own. */
export async function openTreeMaker(place: TreePlace, selection: TreeSelection, poolSize: number): Promise<TreeMaker> {
  const { sandbox, store, workspace, workDir, rules } = place
  passable(workDir)
  const plan = planTree({ workspace: { ...workspace, remove: async () => undefined }, store, selection, workDir })
  const opened = await openPlan({ ...sandbox, wallMs: store.mirror.wallMs }, plan, { workDir, poolSize }).catch(async error => {
    await plan.remove()
    throw error
  })
  let adopted: string | null = null
  // The plan itself is the first one, if nothing else is listed by then.
  let next: TreePlan | null = plan
  // What a quarantine leaves is taken away while the next tree is already made.
  let removed: Promise<void> = Promise.resolve()
  return {
    async make(include) {
      const { exitCode, made } = await makeOnce(include)
      if (exitCode === 0) return made
      // A command may have closed files even to the user it ran as: with its rights back the owner tries once more.
      await runPlan(sandbox, planRights(workspace), workDir, async () => undefined)
      return (await makeOnce(include)).made
    },
    async close() {
      await opened.close()
      await removed
      await plan.remove()
    },
  }

  async function makeOnce(include: readonly string[] | undefined): Promise<{ exitCode: number | null; made: AdoptedTree }> {
    const one = next && isSame(include ?? [], selection.include ?? []) ? next : plan.again(adopted, include ?? [])
    next = null
    const result = await opened.run(one.argv)
    const made = result.exitCode === 0 ? await adopt(one) : unmade(result)
    if (made.kind === 'adopted') adopted = made.tree
    // What concerns no single file concerns the work tree.
    else if (made.path === '') made.path = '.'
    if (one !== plan) removed = removed.then(() => one.remove()).catch(() => {})
    return { exitCode: result.exitCode, made }
  }

  async function adopt(one: TreePlan): Promise<AdoptedTree> {
    crashpoint('tree.made')
    return await adoptTree({ store, plan: one, rules, baseTree: workspace.baseTree })
  }
}

function unmade(result: { output: Uint8Array }): AdoptedTree {
  return { kind: 'refused', path: '', reason: `the tree could not be made: ${tailOf(result)}` }
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((path, index) => path === other[index])
}
