import { randomBytes } from 'node:crypto'
import { chmodSync, copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { entryPath } from '../entries.ts'
import { makeReadable, workConfig, writeRepository } from './bare-repository.ts'
import type { HostMount, Store, TreePlan, TreeSelection, Workspace } from './git.ts'
import { removeRun } from './remove-run.ts'
import { pathBytes } from './shown-path.ts'
import { giveAll, makeOwn, objectMounts, writeWithTime } from './workspace.ts'

const inside = '/grokbot/tree'
const script = entryPath('makeTree')
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
  mkdirSync(folder, { mode: 0o711 })
  chmodSync(folder, 0o711)
  const quarantine = join(folder, 'out')
  makeOwn(quarantine, workspace.user)
  mkdirSync(join(quarantine, 'objects', 'pack'), { recursive: true, mode: 0o700 })
  writeWithTime(join(quarantine, 'index'), readFileSync(workspace.index), statSync(workspace.index).mtimeMs, 0o600)
  giveAll(quarantine, workspace.user)
  const given = join(folder, 'given')
  mkdirSync(given)
  writeRepository(join(given, 'gitdir'), { head: workspace.baseSha, config: treeConfig, alternates: [], objects: true })
  copyFileSync(script, join(given, 'make-tree.sh'))
  writeFileSync(join(given, 'include'), nulList(selection.kind === 'change' ? selection.include : []))
  writeFileSync(join(given, 'submodules'), nulList(workspace.submodules))
  makeReadable(given)
  const mounts: HostMount[] = [
    { source: given, target: `${inside}/given`, mode: 'ro' },
    { source: quarantine, target: `${inside}/out`, mode: 'rw' },
    ...objectMounts(store.mirror, workspace.extraObjects),
  ]
  return {
    workspace: { source: workspace.path, mode: 'ro' },
    mounts,
    // -p: bash takes no start file and no function from its environment.
    argv: ['/bin/bash', '-p', `${inside}/given/make-tree.sh`, selection.kind, workspace.tree],
    env: {},
    selection: selection.kind,
    openedTree: workspace.tree,
    quarantine,
    remove: () => removeRun(folder),
  }
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
