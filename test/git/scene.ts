import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import {
  type AdoptedTree,
  adoptTree,
  fetchMirror,
  type Mirror,
  openMirror,
  openStore,
  openWorkspace,
  planTree,
  type Store,
  type TreePlan,
  type TreeSelection,
  type Workspace,
  type WorkspaceUser,
} from '../../git/index.ts'

export const isRoot = process.getuid?.() === 0
export const rules = { fileBytesMax: 50_000_000, packBytesMax: 250_000_000, filesMax: 100_000 }

/** A folder of this test that every user may pass through, gone when the test has ended. */
export function makeFolder(): string {
  const { folder, end } = openFolder()
  onTestFinished(end)
  return folder
}

function openFolder(): { folder: string; end: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'grokbot-git-'))
  chmodSync(folder, 0o711)
  const end = () => {
    if (process.env.KEEP_FOLDERS === undefined) spawnSync('sh', ['-c', 'chmod -R u+rwX "$1" 2>/dev/null; rm -rf "$1"', 'sh', folder])
  }
  return { folder, end }
}

/** One scene for all tests of a file; its workspaces are separate. */
export async function openSharedScene(files?: Parameters<typeof makeRepository>[1]): Promise<{ scene: Scene; end: () => void }> {
  const { folder, end } = openFolder()
  return { scene: await openScene(folder, makeRepository(folder, files)), end }
}

/** The environment of a person at a terminal, without the machine's own configuration. */
export const personEnv = {
  PATH: process.env.PATH ?? '/usr/bin:/bin',
  HOME: '/nonexistent',
  LC_ALL: 'C.UTF-8',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.org',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.org',
  GIT_AUTHOR_DATE: '1700000000 +0000',
  GIT_COMMITTER_DATE: '1700000000 +0000',
}

export function sh(cwd: string, script: string, env: Record<string, string> = {}): string {
  return execFileSync('bash', ['-c', `set -eu; ${script}`], {
    cwd,
    env: { ...personEnv, ...env },
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** What git itself would do: porcelain included. */
export function plainGit(cwd: string, ...argv: string[]): string {
  return execFileSync('git', argv, { cwd, env: personEnv, encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'pipe'] }).trim()
}

export function writeFiles(folder: string, files: Record<string, string | Uint8Array | { link: string } | { exec: string }>): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    if (typeof content === 'string' || content instanceof Uint8Array) writeFileSync(path, content)
    else if ('link' in content) symlinkSync(content.link, path)
    else writeFileSync(path, content.exec, { mode: 0o755 })
  }
}

/** A repository a person made, with one commit on `main`. */
export function makeRepository(folder: string, files: Parameters<typeof writeFiles>[1] = sampleFiles): string {
  const path = join(folder, 'project')
  mkdirSync(path)
  plainGit(path, 'init', '-q', '-b', 'main')
  writeFiles(path, files)
  plainGit(path, 'add', '-A')
  plainGit(path, 'commit', '-q', '--allow-empty', '-m', 'first')
  return path
}

export const sampleFiles = {
  'README.md': '# Sample\n',
  'src/add.js': 'export const add = (a, b) => a - b\n',
  'src/keep.js': 'export const keep = 1\n',
  '.gitignore': 'node_modules/\n*.log\n',
}

/** Every test file has a process and a user of its own, as every session of the product has. */
const sessionUid = 62_000 + (process.pid % 2_000)

export type Scene = {
  folder: string
  dataDir: string
  project: string
  mirror: Mirror
  store: Store
  user: WorkspaceUser
  base: string
  baseTree: string
}

/** A mirror and a store of a person's repository, ready for a workspace. */
export async function makeScene(files?: Parameters<typeof makeRepository>[1]): Promise<Scene> {
  const folder = makeFolder()
  return await openScene(folder, makeRepository(folder, files))
}

export async function openScene(folder: string, project: string): Promise<Scene> {
  const dataDir = join(folder, 'data')
  makePassable(dataDir)
  const mirror = await openMirror({ dataDir, tenant: 'octo', repositoryId: 1 })
  const fetched = await fetchMirror(mirror, { url: project })
  if (fetched.kind !== 'fetched') throw new Error(JSON.stringify(fetched))
  const store = openStore({ dataDir, mirror, taskId: 'task-1' })
  const user = isRoot ? { uid: sessionUid, gid: mirror.gid as number } : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  const base = plainGit(project, 'rev-parse', 'HEAD')
  return { folder, dataDir, project, mirror, store, user, base, baseTree: plainGit(project, 'rev-parse', 'HEAD^{tree}') }
}

function makePassable(folder: string): void {
  mkdirSync(folder)
  chmodSync(folder, 0o711)
}

export async function workspaceOf(scene: Scene, tree?: string): Promise<Workspace> {
  const runDir = join(scene.folder, 'run')
  if (!existsSync(runDir)) makePassable(runDir)
  const { mirror, store, user, base } = scene
  return await openWorkspace({ mirror, store, sha: base, runDir, user, ...(tree ? { tree } : {}) })
}

type Inside = { workspace: { source: string; mode: 'ro' | 'rw' }; mounts: { source: string; target: string; mode: 'ro' | 'rw' }[] }

/** A plain sandbox of bubblewrap: no more than what keeps the host's files out. */
export function runInside(
  { workspace, mounts }: Inside,
  user: WorkspaceUser,
  argv: string[],
  env: Record<string, string> = {},
): { status: number | null; stdout: string; stderr: string } {
  const binds = [{ ...workspace, target: '/workspace' }, ...mounts].flatMap(mount => [
    mount.mode === 'ro' ? '--ro-bind' : '--bind',
    mount.source,
    mount.target,
  ])
  const roots = ['/bin', '/lib', '/lib64', '/sbin'].filter(existsSync).flatMap(root => ['--ro-bind', root, root])
  const result = spawnSync(
    '/usr/bin/bwrap',
    [
      ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-net', '--uid', '1000', '--gid', '1000', '--cap-drop', 'ALL'],
      ...['--die-with-parent', '--new-session', '--ro-bind', '/usr', '/usr', ...roots],
      ...['--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp', '--tmpfs', '/run', '--dir', '/home/agent', ...binds],
      ...['--chdir', '/workspace', '--clearenv', '--setenv', 'PATH', '/usr/local/bin:/usr/bin:/bin', '--setenv', 'HOME', '/home/agent'],
      ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
      '--',
      ...argv,
    ],
    { encoding: 'utf8', maxBuffer: 1 << 28, cwd: '/', env: {}, ...(isRoot ? user : {}) },
  )
  if (result.error) throw result.error
  return { status: result.status, stdout: result.stdout, stderr: result.stderr }
}

/** Lets the agent do something to its workspace, its own gitdir bound as `.git`. */
export function asAgent(scene: Scene, workspace: Workspace, script: string): string {
  const inside: Inside = { workspace: { source: workspace.path, mode: 'rw' }, mounts: workspace.agentMounts }
  const result = runInside(inside, scene.user, ['/bin/bash', '-c', `set -eu; ${script}`])
  if (result.status !== 0) throw new Error(`agent: ${result.status}\n${result.stdout}\n${result.stderr}`)
  return result.stdout
}

export function runPlan(scene: Scene, plan: TreePlan): { status: number | null; stdout: string; stderr: string } {
  return runInside(plan, scene.user, plan.argv, plan.env)
}

/** Plan, fresh sandbox, adoption: a tree of the work tree as the product makes one. */
export async function takeTree(
  scene: Scene,
  workspace: Workspace,
  selection: TreeSelection = { kind: 'all' },
  more: TreePlan['mounts'] = [],
): Promise<AdoptedTree> {
  const plan = planTree({ workspace, store: scene.store, selection, workDir: join(scene.folder, 'run') })
  runPlan(scene, { ...plan, mounts: [...plan.mounts, ...more] })
  const result = await adoptTree({ store: scene.store, plan, rules, baseTree: scene.baseTree })
  await plan.remove()
  return result
}

/** `mode path` → content of every file of a tree in the store. */
export function readTree(scene: Scene, tree: string): Record<string, string> {
  const entries = sh(scene.store.path, `git --git-dir=. ls-tree -r -z ${tree}`).split('\0').filter(Boolean)
  return Object.fromEntries(
    entries.map(entry => {
      const [meta, path] = entry.split('\t') as [string, string]
      const [mode, type, sha] = meta.split(' ') as [string, string, string]
      return [`${mode} ${path}`, type === 'blob' ? sh(scene.store.path, `git --git-dir=. cat-file blob ${sha}`) : sha]
    }),
  )
}

export function listNames(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).sort() : []
}
