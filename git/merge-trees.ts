import { commitTree } from './commit-tree.ts'
import type { Store } from './git.ts'
import { checkSha } from './ref-name.ts'
import { gitError, runGit } from './run-git.ts'
import { showPath } from './shown-path.ts'

export type MergedTrees = { kind: 'merged'; tree: string } | { kind: 'conflict'; paths: string[] }

/**
 * What lies between `base` and `ours`, made on `theirs` as well: git's own merge, on objects alone, so that nothing is checked
 * out and no merge driver or filter of a repository runs. The three stand in commits made for this, so that `base` is their
 * merge base whatever the histories they come from look like: those of a branch that was rewritten do not come back.
 */
export async function mergeTrees(
  store: Store,
  { base, ours, theirs }: { base: string; ours: string; theirs: string },
): Promise<MergedTrees> {
  const commit = (tree: string, parents: readonly string[]) => commitTree({ store, tree, parents, message: 'merge', author: nobody, at: 0 })
  const root = await commit(base, [])
  const [one, other] = [await commit(theirs, [root]), await commit(ours, [root])]
  const argv = ['merge-tree', '--write-tree', '--no-messages', '--name-only', '-z', one, other]
  const call = { gitDir: store.path, argv, wallMs: store.mirror.wallMs }
  const result = await runGit(call)
  if (result.exitCode !== 0 && result.exitCode !== 1) throw gitError(call, result)
  const [tree = '', ...names] = splitNames(result.stdout)
  if (result.exitCode === 1) return { kind: 'conflict', paths: [...new Set(names)] }
  return { kind: 'merged', tree: checkSha(tree) }
}

const nobody = { name: 'grokbot', email: 'grokbot@grokbot.invalid' }

/** `<tree>\0`, and of a conflict the paths it is in, each ended by NUL. */
function splitNames(output: Buffer): string[] {
  const names: string[] = []
  for (let from = 0; from < output.length; ) {
    const end = output.indexOf(0, from)
    if (end <= from) break
    names.push(showPath(output.subarray(from, end)))
    from = end + 1
  }
  return names
}
