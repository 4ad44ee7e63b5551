import { randomBytes } from 'node:crypto'
import { chownSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { entryPath } from '../entries.ts'
import { workConfig, writeRepository } from './bare-repository.ts'
import type { HostMount, Mirror, Store, Workspace, WorkspaceUser } from './git.ts'
import { countIndexEntries, listGitlinks, setIndexOwner } from './index-owner.ts'
import { checkSha } from './ref-name.ts'
import { removeRun } from './remove-run.ts'
import { git } from './run-git.ts'
import { showPath } from './shown-path.ts'

/** Where sandboxes see objects; alternates name these, so they never change. */
export const insideObjects = { mirror: '/grokbot/objects', extra: '/grokbot/store-objects' } as const

/** How a sandbox shows its user; the index is written for it. */
const insideUserDefault: WorkspaceUser = { uid: 1000, gid: 1000 }

export type OpenWorkspaceOptions = {
  mirror: Mirror
  store: Store
  /** The commit HEAD stands at. */
  sha: string
  /** What is checked out, when it is not that commit's own tree: a snapshot or a change, from the store. */
  tree?: string
  /** An existing folder the session's user may pass through; everything of the user's goes into a new folder below it. */
  runDir: string
  user: WorkspaceUser
  insideUser?: WorkspaceUser
}

/**
 * Checks a tree out as the session's user and makes the throwaway gitdir of the agent. Nothing of the repository has run
 * when this returns, and no git of the host looks at the work tree afterwards.
 */
export async function openWorkspace(options: OpenWorkspaceOptions): Promise<Workspace> {
  const { mirror, user } = options
  checkReach(mirror, options.runDir, user)
  const id = randomBytes(8).toString('hex')
  const mine = join(options.runDir, `workspace-${id}`)
  // The host's own part lies beside it: nobody but the host may go in.
  const hostFolder = join(options.runDir, `host-${id}`)
  mkdirSync(hostFolder, { mode: 0o700 })
  for (const folder of [mine, join(mine, 'tree'), join(mine, 'tree', '.git')]) makeOwn(folder, user)
  const remove = async () => {
    await removeRun(mine)
    await removeRun(hostFolder)
  }
  try {
    const { baseTree, tree, extraObjects, checkedOut } = await fillTree(options, mine)
    const index = join(hostFolder, 'index')
    const owned = setIndexOwner(checkedOut.bytes, options.insideUser ?? insideUserDefault)
    writeWithTime(index, owned, checkedOut.mtimeMs, 0o600)
    const agentGitDir = join(mine, 'gitdir')
    writeAgentGitDir(agentGitDir, options.sha, extraObjects !== null)
    writeWithTime(join(agentGitDir, 'index'), owned, checkedOut.mtimeMs, 0o644)
    giveAll(agentGitDir, user)
    return {
      path: join(mine, 'tree'),
      agentGitDir,
      agentMounts: [{ source: agentGitDir, target: '/workspace/.git', mode: 'rw' }, ...objectMounts(mirror, extraObjects)],
      index,
      extraObjects,
      user,
      baseSha: options.sha,
      baseTree,
      tree,
      files: countIndexEntries(owned),
      submodules: listGitlinks(owned).map(showPath),
      remove,
    }
  } catch (error) {
    await remove()
    throw error
  }
}

/** The base's own tree is looked up while git already checks the commit out; another tree may need objects first. */
async function fillTree({ mirror, store, user, sha, tree }: OpenWorkspaceOptions, folder: string) {
  const own = { mirror, folder, user, extraObjects: null }
  if (tree === undefined) {
    const lookup = treeOf(mirror, sha)
    // Awaited below, when no process of the checkout is left that could still write what the caller then removes.
    lookup.catch(() => {})
    const checkedOut = await checkOut({ ...own, tree: checkSha(sha) })
    const baseTree = await lookup
    return { baseTree, tree: baseTree, extraObjects: null, checkedOut }
  }
  const baseTree = await treeOf(mirror, sha)
  const extraObjects = tree === baseTree ? null : await packExtra(store, join(folder, 'store-objects'), checkSha(tree), baseTree, user)
  return { baseTree, tree, extraObjects, checkedOut: await checkOut({ ...own, tree, extraObjects }) }
}

export function objectMounts(mirror: Mirror, extraObjects: string | null): HostMount[] {
  const mounts: HostMount[] = [{ source: mirror.objects, target: insideObjects.mirror, mode: 'ro' }]
  if (extraObjects !== null) mounts.push({ source: extraObjects, target: insideObjects.extra, mode: 'ro' })
  return mounts
}

async function treeOf(mirror: Mirror, sha: string): Promise<string> {
  const input = `${checkSha(sha)}^{tree}\n`
  const output = await git({ gitDir: mirror.path, argv: ['cat-file', '--batch-check=%(objectname)'], input, wallMs: mirror.wallMs })
  const tree = output.toString('utf8').trim()
  if (!/^[0-9a-f]{40}$/.test(tree)) throw new Error(`the mirror has no commit ${sha}`)
  return tree
}

/** What the mirror lacks of this tree, as one pack the session's user may read: it sees no other snapshot of the task. */
export async function packExtra(store: Store, folder: string, tree: string, baseTree: string, user: WorkspaceUser): Promise<string> {
  makeOwn(folder, user)
  mkdirSync(join(folder, 'pack'), { mode: 0o700 })
  await git({
    gitDir: store.path,
    argv: ['pack-objects', '--revs', '--delta-base-offset', '-q', join(folder, 'pack', 'pack')],
    // The pack is written beside its final place: a run folder may lie on another disk than the store.
    env: { GIT_OBJECT_DIRECTORY: folder, GIT_ALTERNATE_OBJECT_DIRECTORIES: join(store.path, 'objects') },
    input: `${tree}\n^${baseTree}\n`,
    wallMs: store.mirror.wallMs,
  })
  giveAll(folder, user)
  return folder
}

type CheckOut = { mirror: Mirror; extraObjects: string | null; tree: string; folder: string; user: WorkspaceUser }

/** Git runs as the session's user, so every file is that user's from the start and the index's stat data stays true. */
async function checkOut({ mirror, extraObjects, tree, folder, user }: CheckOut): Promise<{ bytes: Buffer; mtimeMs: number }> {
  const gitDir = join(folder, 'checkout.git')
  const alternates = [mirror.objects, ...(extraObjects === null ? [] : [extraObjects])]
  writeRepository(gitDir, { head: 'ref: refs/heads/none', config: `${workConfig}${hostConfig()}`, alternates, objects: true })
  giveAll(gitDir, user)
  await git({
    gitDir,
    argv: [`--work-tree=${join(folder, 'tree')}`, 'read-tree', '-m', '-u', '--no-recurse-submodules', tree],
    cwd: join(folder, 'tree'),
    // The user may be unable to read the project's own folder; the same settings stand in the repository's file.
    env: { GIT_CONFIG_GLOBAL: '/dev/null' },
    wallMs: mirror.wallMs,
    ...asUser(user),
  })
  const index = join(gitDir, 'index')
  const result = { bytes: readFileSync(index), mtimeMs: statSync(index).mtimeMs }
  return result
}

function writeAgentGitDir(path: string, head: string, extra: boolean): void {
  const alternates = [insideObjects.mirror, ...(extra ? [insideObjects.extra] : [])]
  const config = `${workConfig}[user]\n\tname = agent\n\temail = agent@grokbot.invalid\n`
  writeRepository(path, { head, config, alternates, objects: true })
}

let hostConfigText: string | undefined

function hostConfig(): string {
  hostConfigText ??= readFileSync(entryPath('hostGitConfig'), 'utf8')
  return hostConfigText
}

/**
 * A copy must not look newer than the original: git compares a file's time with the index's to know which entries it may
 * trust by stat alone. Rounded down, so that it errs on the side of reading a file again.
 */
export function writeWithTime(path: string, bytes: Uint8Array, mtimeMs: number, mode: number): void {
  writeFileSync(path, bytes, { mode, flag: 'wx' })
  const seconds = Math.floor(mtimeMs) / 1000
  utimesSync(path, seconds, seconds)
}

export function makeOwn(folder: string, user: WorkspaceUser): void {
  mkdirSync(folder, { mode: 0o700 })
  if (process.getuid?.() === 0) chownSync(folder, user.uid, user.gid)
}

/** Gives a small folder the host has just written to the session's user; never a work tree. */
export function giveAll(folder: string, user: WorkspaceUser): void {
  if (process.getuid?.() !== 0) return
  for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' })) chownSync(join(folder, entry), user.uid, user.gid)
  chownSync(folder, user.uid, user.gid)
}

export function asUser(user: WorkspaceUser): { user?: WorkspaceUser } {
  return process.getuid?.() === 0 ? { user } : {}
}

/** As root, a session's user comes in through folders others may pass and through the mirror's own group. */
function checkReach(mirror: Mirror, runDir: string, user: WorkspaceUser): void {
  if (process.getuid?.() !== 0) return
  if (user.uid === 0) throw new Error('a session must not run as root')
  if (user.gid !== mirror.gid) throw new Error(`the session's gid must be ${mirror.gid}, the group of the mirror ${mirror.path}`)
  for (const start of [dirname(mirror.objects), dirname(runDir)]) {
    for (let folder = start; folder !== '/'; folder = dirname(folder)) {
      const { mode, uid } = statSync(folder)
      if ((mode & 0o001) === 0 && uid !== user.uid) {
        throw new Error(`${folder} can not be passed through by the session's user: chmod o+x ${folder}`)
      }
    }
  }
}
