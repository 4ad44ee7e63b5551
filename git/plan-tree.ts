import { randomBytes } from 'node:crypto'
import { chmodSync, copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { entryPath } from '../entries.ts'
import { makeReadable, workConfig, writeRepository } from './bare-repository.ts'
import type { Store, TreePlan, TreeSelection, Workspace } from './git.ts'
import { removeRun } from './remove-run.ts'
import { pathBytes } from './shown-path.ts'
import { giveAll, makeOwn, objectMounts, writeWithTime } from './workspace.ts'

const inside = '/grokbot/tree'
const script = entryPath('makeTree')
// Objects of a quarantine are read once, packed, and thrown away: neither compressed nor synced.
const treeConfig = `${workConfig}[core]
\tattributesFile = /dev/null
\texcludesFile = /dev/null
\thooksPath = /dev/null
\tfsmonitor = false
\tuntrackedCache = false
\tprotectHFS = true
\tprotectNTFS = true
\tbigFileThreshold = 64m
[submodule]
\trecurse = false
[index]
\tversion = 2
`

export type PlanTreeOptions = { workspace: Workspace; store: Store; selection: TreeSelection; workDir: string }

/**
 * Writes what a fresh sandbox needs to make a tree of a work tree: a gitdir of the host's making, a copy of the checkout's
 * index, the script. Nothing of the agent's gitdir takes part, so nothing set there can hide an edit or run a program.
 * `workDir` is a folder the session's user may pass through. No process of the agent may be alive when the plan is run.
 */
export function planTree({ workspace, store, selection, workDir }: PlanTreeOptions): TreePlan {
  const folder = join(workDir, `tree-${randomBytes(8).toString('hex')}`)
  const [given, quarantines] = [join(folder, 'given'), join(folder, 'out')]
  // Passable for the session's user, not listable.
  for (const path of [folder, given, quarantines]) {
    mkdirSync(path, { mode: 0o711 })
    chmodSync(path, 0o711)
  }
  writeRepository(join(given, 'gitdir'), { head: workspace.baseSha, config: treeConfig, alternates: [], objects: true })
  copyFileSync(script, join(given, 'make-tree.sh'))
  writeFileSync(join(given, 'include'), nulList(selection.include ?? []))
  writeFileSync(join(given, 'submodules'), nulList(workspace.submodules))
  makeReadable(given)
  const shared = {
    workspace: { source: workspace.path, mode: 'ro' as const },
    mounts: [
      { source: given, target: `${inside}/given`, mode: 'ro' as const },
      { source: quarantines, target: `${inside}/out`, mode: 'rw' as const },
      ...objectMounts(store.mirror, workspace.extraObjects),
    ],
    env: {},
    selection: selection.kind,
    openedTree: workspace.tree,
  }
  const one = (adoptedTree: string | null, remove: TreePlan['remove'] | null): TreePlan => {
    const id = randomBytes(8).toString('hex')
    const quarantine = join(quarantines, id)
    makeQuarantine(quarantine, workspace)
    // -p: bash takes no start file and no function from its environment.
    const argv = ['/bin/bash', '-p', `${inside}/given/make-tree.sh`, selection.kind, workspace.tree, id, adoptedTree ?? '']
    const again = (tree: string | null, include: readonly string[]) => {
      writeFileSync(join(given, 'include'), nulList(include))
      return one(tree, null)
    }
    return { ...shared, argv, adoptedTree, quarantine, again, remove: remove ?? (() => removeRun(quarantine)) }
  }
  return one(null, () => removeRun(folder))
}

function makeQuarantine(folder: string, { index, user }: Workspace): void {
  makeOwn(folder, user)
  mkdirSync(join(folder, 'objects', 'pack'), { recursive: true, mode: 0o700 })
  writeWithTime(join(folder, 'index'), readFileSync(index), statSync(index).mtimeMs, 0o600)
  giveAll(folder, user)
}

/** NUL-ended paths. What can name nothing below the root is dropped: the work tree can hold no such file. */
function nulList(shown: readonly string[]): Buffer {
  const paths = shown.map(path => pathBytes(path.replace(/^(\.\/+)+/, ''))).filter(isInside)
  return Buffer.concat(paths.flatMap(path => [path, Buffer.of(0)]))
}

function isInside(path: Buffer): boolean {
  const text = path.toString('latin1')
  return text !== '' && !text.startsWith('/') && !text.includes('\0') && !text.split('/').some(part => part === '..' || part === '.')
}
