import { randomBytes } from 'node:crypto'
import { chmodSync, copyFileSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { entryPath } from '../entries.ts'
import { makeReadable, workConfig, writeRepository } from './bare-repository.ts'
import type { HostMount, Store, Workspace } from './git.ts'
import { checkSha } from './ref-name.ts'
import { removeRun } from './remove-run.ts'
import { giveAll, makeOwn, objectMounts, packExtra, writeWithTime } from './workspace.ts'

const inside = '/grokbot/restore'
const script = entryPath('restoreTree')

export type PlanRestoreOptions = { workspace: Workspace; store: Store; tree: string; workDir: string }
/** As a `TreePlan`, but the work tree is mounted writable; nothing comes out of it. */
export type RestorePlan = { workspace: { source: string; mode: 'rw' }; mounts: HostMount[]; argv: string[]; remove(): Promise<void> }

/**
 * Writes what a fresh sandbox needs to bring a work tree to a recorded tree. By then setup has run there, so no git of the
 * host may touch it; the gitdir and the index are the host's own. No process of the agent may be alive when it is run.
 */
export async function planRestore({ workspace, store, tree, workDir }: PlanRestoreOptions): Promise<RestorePlan> {
  const { user } = workspace
  const folder = join(workDir, `restore-${randomBytes(8).toString('hex')}`)
  mkdirSync(folder, { mode: 0o711 })
  chmodSync(folder, 0o711)
  const out = join(folder, 'out')
  makeOwn(out, user)
  mkdirSync(join(out, 'objects', 'pack'), { recursive: true, mode: 0o700 })
  writeWithTime(join(out, 'index'), readFileSync(workspace.index), statSync(workspace.index).mtimeMs, 0o600)
  giveAll(out, user)
  const given = join(folder, 'given')
  mkdirSync(given)
  writeRepository(join(given, 'gitdir'), { head: workspace.baseSha, config: workConfig, alternates: [], objects: true })
  copyFileSync(script, join(given, 'restore-tree.sh'))
  makeReadable(given)
  const extra =
    checkSha(tree) === workspace.baseTree ? null : await packExtra(store, join(folder, 'store-objects'), tree, workspace.baseTree, user)
  return {
    workspace: { source: workspace.path, mode: 'rw' },
    mounts: [
      { source: given, target: `${inside}/given`, mode: 'ro' },
      { source: out, target: `${inside}/out`, mode: 'rw' },
      ...objectMounts(store.mirror, extra),
    ],
    argv: ['/bin/bash', '-p', `${inside}/given/restore-tree.sh`, tree],
    remove: () => removeRun(folder),
  }
}
