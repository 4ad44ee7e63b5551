import { findProtected, type TaskState } from '../domain/index.ts'
import { diffTrees, listLinks, mergeTrees, resolveBase } from '../git/index.ts'
import { bringHead } from './bring-up.ts'
import { type Change, withNotes } from './collect-change.ts'
import type { Fallen } from './fallen.ts'
import { Gone } from './gone.ts'
import { judgeChange } from './judge-change.ts'
import { keepPatch } from './keep-patch.ts'
import { workerLimits } from './limits.ts'
import { type Commit, makeCommit } from './make-commit.ts'
import type { TaskPlace } from './open-task-workspace.ts'
import { runChecks } from './run-checks.ts'
import type { Base, Task } from './task.ts'

export type Reapplied = { kind: 'reapplied'; base: Base; commit: Commit }

/**
 * Makes the change again on a head that moved while it was made, by git's own merge on objects alone. What was proven was
 * proven of another tree: the record forgets it, and the checks are run again on this one.
 */
export async function reapply(task: Task, base: Base, place: TaskPlace, head: string): Promise<Reapplied | Fallen> {
  const theirs = await treeOfHead(task, base, head)
  if (theirs === null) return { kind: 'fallen', code: 'head-rewritten', why: 'its branch was rewritten while I delivered' }
  const change = required(task.log.state().change)
  const merged = await mergeTrees(base.store, { base: place.workspace.baseTree, ours: change.tree, theirs })
  const newer = `newer commits (\`${head.slice(0, 7)}\`)`
  if (merged.kind === 'conflict')
    return { kind: 'fallen', code: 'newer-conflict', why: `${newer} changed the same places in ${named(merged.paths)}` }
  if (merged.tree === theirs) return { kind: 'fallen', code: 'newer-has-it', why: `${newer} have all of it already` }
  const again = await describe(base, change, { head, theirs, tree: merged.tree })
  if (again.kind === 'fallen') return again
  await task.log.record({ type: 'change.collected', commandId: `${task.id}:change:onto`, payload: again.change })
  await keepPatch(task, base)
  const moved = { ...base, start: { sha: head } }
  const { workspace } = place
  await runChecks(task, moved, again.change, { ...place, workspace: { ...workspace, baseSha: head, baseTree: theirs } })
  await judgeChange(task, moved, again.change)
  return { kind: 'reapplied', base: moved, commit: await makeCommit(task, moved, again.change) }
}

async function treeOfHead(task: Task, base: Base, head: string): Promise<string | null> {
  try {
    await bringHead(task, base.mirror, { sha: head })
  } catch (error) {
    if (error instanceof Gone) return null
    throw error
  }
  const found = await resolveBase(base.mirror, head)
  return found.kind === 'found' ? found.tree : null
}

/** The protected paths are asked again: a link of the newer commits may lead to what was none before. */
async function describe(
  base: Base,
  change: Change,
  { head, theirs, tree }: { head: string; theirs: string; tree: string },
): Promise<{ kind: 'described'; change: Change } | Fallen> {
  const { files } = await diffTrees(base.store, theirs, tree)
  const links = (await Promise.all([theirs, tree].map(each => listLinks(base.store, each)))).flat()
  // What setup made was left in or taken out when the change was collected; by now it is part of it like the rest.
  const madeBySetup = files.map(file => file.path)
  const [guarded] = findProtected(files, { extra: base.config.protected.value, links, madeBySetup })
  if (guarded)
    return { kind: 'fallen', code: 'newer-protected', why: `on newer commits it would change \`${guarded.path}\`, which ${guarded.reason}` }
  return { kind: 'described', change: { ...change, tree, onto: { sha: head, tree: theirs }, files: files.map(withNotes) } }
}

function named(paths: readonly string[]): string {
  const shown = paths.slice(0, workerLimits.leftOutNamedMax).map(path => `\`${path}\``)
  const more = paths.length - shown.length
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

function required(change: TaskState['change']): Change {
  if (change === null) throw new Error('there is no change to make again')
  return change
}
