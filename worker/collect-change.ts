import picomatch from 'picomatch'
import { type ChangedFile, decidesChecks, findProtected, type Payload, startsChecks } from '../domain/index.ts'
import { type AdoptedTree, diffTrees, listLinks, mixTrees } from '../git/index.ts'
import { findLeaks } from './find-leaks.ts'
import { keepPatch } from './keep-patch.ts'
import { makeTree, type TreePlace } from './make-tree.ts'
import type { Base, Task } from './task.ts'
import { writtenPaths } from './written-paths.ts'

export type Change = Payload<'change.collected'>

/**
 * What belongs to the change, as a tree: tracked modifications, files the file tools wrote, untracked ones the config
 * includes. Protected paths are put back to the base's version, and everything that is not in it is named.
 */
export async function collectChange(task: Task, base: Base, place: TreePlace): Promise<Change> {
  const known = task.log.state().change
  if (known) {
    await keepPatch(task, base)
    return known
  }
  const written = writtenPaths(task.log.state())
  const adopted = await makeChangeTree(base, place, written)
  const change =
    adopted.kind === 'refused'
      ? refusedChange(place, adopted)
      : await describeChange(base, place, adopted, { written, madeBySetup: await setupPaths(task, base, place, adopted.tree) })
  await task.log.record({ type: 'change.collected', commandId: `${task.id}:change`, payload: change })
  await keepPatch(task, base)
  return change
}

async function makeChangeTree(base: Base, place: TreePlace, written: readonly string[]): Promise<AdoptedTree> {
  const first = await makeTree(place, { kind: 'change', include: written })
  if (first.kind === 'refused' || base.config.include.value.length === 0) return first
  const isIncluded = picomatch([...base.config.include.value], { dot: true })
  const included = first.untracked.filter(file => isIncluded(file))
  return included.length === 0 ? first : await makeTree(place, { kind: 'change', include: [...written, ...included] })
}

function refusedChange({ workspace }: TreePlace, { path, reason }: { path: string; reason: string }): Change {
  return { tree: workspace.baseTree, files: [], leftOut: [], refused: [{ path, reason }] }
}

/** What setup changed and the session left as setup made it, such as a lockfile: only that counts as setup's. */
async function setupPaths(task: Task, base: Base, { workspace }: TreePlace, tree: string): Promise<string[]> {
  const baseline = task.log.state().setup?.baselineTree ?? workspace.baseTree
  if (baseline === workspace.baseTree) return []
  const later = new Set((await diffTrees(base.store, baseline, tree)).files.map(file => file.path))
  const made = (await diffTrees(base.store, workspace.baseTree, baseline)).files.map(file => file.path)
  return made.filter(path => !later.has(path))
}

async function describeChange(
  base: Base,
  { workspace }: TreePlace,
  adopted: AdoptedTree & { kind: 'adopted' },
  { written, madeBySetup }: { written: readonly string[]; madeBySetup: readonly string[] },
): Promise<Change> {
  const { store } = base
  const diff = await diffTrees(store, workspace.baseTree, adopted.tree)
  const all = diff.files
  // Those of the base too: one that was taken away comes back with its protected name, and leads where it led.
  const links = (await Promise.all([workspace.baseTree, adopted.tree].map(tree => listLinks(store, tree)))).flat()
  const leaks = await findLeaks(store, adopted.tree, diff)
  const guarded = findProtected(all, { extra: base.config.protected.value, links, madeBySetup })
  const known = new Set(guarded.map(({ path }) => path))
  const leaked = leaks.filter(({ path }) => !known.has(path))
  const refused = [...guarded, ...leaked.map(leak => ({ ...leak, from: all.find(file => file.path === leak.path)?.from ?? null }))]
  const back = refused.flatMap(({ path, from }) => (from ? [path, from] : [path]))
  const tree = await mixTrees(store, { into: adopted.tree, from: workspace.baseTree, paths: back })
  const files = back.length === 0 ? all : (await diffTrees(store, workspace.baseTree, tree)).files
  const taken = new Set([...files, ...refused].map(file => file.path).concat(written))
  const leftOut = [
    ...adopted.untracked.filter(path => !taken.has(path)).map(path => ({ path, reason: 'new file made by a command' })),
    ...adopted.gitlinksLeftOut.map(path => ({ path, reason: 'nested repository' })),
    ...adopted.specialsLeftOut.map(path => ({ path, reason: 'not a file git can hold' })),
  ]
  return {
    tree,
    files: files.map(withNotes),
    leftOut,
    refused: refused.map(({ path, reason }) => ({ path, reason })),
  }
}

export function withNotes(file: ChangedFile): ChangedFile {
  const notes = [
    ...(startsChecks(file.path) ? ['starts the checks'] : decidesChecks(file.path) ? ['test file'] : []),
    ...(file.mode === '100755' ? ['executable'] : []),
    ...(file.mode === '120000' ? ['symbolic link'] : []),
  ]
  return { ...file, notes: [...file.notes, ...notes] }
}
