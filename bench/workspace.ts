import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { adoptTree, fetchMirror, openMirror, openStore, openWorkspace, planTree, resolveBase, type Workspace } from '../git/index.ts'

/**
 * A work tree of a mirrored repository, against `git worktree add` of the same git on the same mirror in the same run, taken
 * in turns. Ours includes the owner of every file (as root: another user than git's), the agent's gitdir and the index for
 * trees. Then what a tree of it costs, inside a sandbox of bubblewrap.
 *
 *   node bench/workspace.ts [--files 3000,50000] [--rounds 5] [--folder /dev/shm]
 */
const rules = { fileBytesMax: 1 << 26, packBytesMax: 1 << 28, filesMax: 1_000_000 }
const options = readOptions(process.argv.slice(2))
const folder = mkdtempSync(join(options.folder, 'grokbot-bench-'))
chmodSync(folder, 0o711)
try {
  for (const files of options.files) await measure(files, options.rounds)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function measure(files: number, rounds: number): Promise<void> {
  const home = join(folder, String(files))
  const project = makeProject(home, files)
  const dataDir = join(home, 'data')
  const runDir = join(home, 'run')
  for (const made of [dataDir, runDir]) mkdirSync(made, { mode: 0o711 })
  const mirror = await openMirror({ dataDir, tenant: 'bench', repositoryId: files })
  const [fetchMs] = await time(() => fetchMirror(mirror, { url: project }))
  const [refetchMs] = await time(() => fetchMirror(mirror, { url: project }))
  const base = await resolveBase(mirror, 'main')
  if (base.kind !== 'found') throw new Error(base.message)
  const store = openStore({ dataDir, mirror, taskId: 'bench' })
  const user =
    process.getuid?.() === 0 ? { uid: 61_000, gid: mirror.gid as number } : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }

  const theirs: number[] = []
  const ours: number[] = []
  const opened: Workspace[] = []
  const trees = new Map<string, number[]>()
  for (let round = 0; round < rounds; round++) {
    const worktree = join(home, `worktree-${round}`)
    const addWorktree = async () => {
      const [ms] = await time(async () => plain(mirror.path, ['worktree', 'add', '--quiet', '--detach', worktree, base.sha]))
      theirs.push(ms)
    }
    const openOurs = async () => {
      const [ms, workspace] = await time(() => openWorkspace({ mirror, store, sha: base.sha, runDir, user }))
      ours.push(ms)
      checkOwner(workspace, user.uid)
      opened.push(workspace)
    }
    // Who comes second finds a warmer cache; they take turns.
    for (const run of round % 2 === 0 ? [addWorktree, openOurs] : [openOurs, addWorktree]) {
      // What the one before left to be written must not be written in the time of the next; removing comes last for the same reason.
      execFileSync('sync', ['-f', home])
      await run()
    }
  }
  await measureTrees(opened[0] as Workspace, trees)
  const [removeMs] = await time(async () => {
    for (const workspace of opened) await workspace.remove()
  })
  const ratio = median(ours) / median(theirs)
  console.log(`${files} files, ${rounds} rounds, ${options.folder} (median / min ms)`)
  row('git worktree add --detach', theirs)
  row(
    'openWorkspace',
    ours,
    `  ratio ${ratio.toFixed(2)} (reach ≤ 1.2), of the minima ${(Math.min(...ours) / Math.min(...theirs)).toFixed(2)}`,
  )
  row('fetchMirror, first', [fetchMs])
  row('fetchMirror, nothing new', [refetchMs])
  row('workspace.remove', [removeMs / opened.length])
  for (const [name, times] of trees) row(name, times)

  async function measureTrees(workspace: Workspace, into: Map<string, number[]>): Promise<void> {
    const first = readdirSync(workspace.path).find(name => name !== '.git') as string
    for (const name of ['tree, nothing changed', 'tree, one file changed']) {
      const times = { plan: [] as number[], run: [] as number[], adopt: [] as number[] }
      for (let round = 0; round < rounds; round++) {
        if (name.includes('one file')) writeFileSync(join(workspace.path, first, 'file-0.js'), `changed ${round}\n`)
        const [planMs, plan] = await time(async () => planTree({ workspace, store, selection: { kind: 'all' }, workDir: runDir }))
        const [runMs] = await time(async () => runInside(plan, user))
        const [adoptMs, adopted] = await time(() => adoptTree({ store, plan, rules, baseTree: base.kind === 'found' ? base.tree : '' }))
        if (adopted.kind !== 'adopted') throw new Error(adopted.reason)
        times.plan.push(planMs)
        times.run.push(runMs)
        times.adopt.push(adoptMs)
        await plan.remove()
      }
      for (const [part, values] of Object.entries(times)) into.set(`${name}: ${part}`, values)
    }
  }
}

function runInside(plan: ReturnType<typeof planTree>, user: { uid: number; gid: number }): void {
  const mounts = [{ ...plan.workspace, target: '/workspace' }, ...plan.mounts]
  const binds = mounts.flatMap(mount => [mount.mode === 'ro' ? '--ro-bind' : '--bind', mount.source, mount.target])
  const system = [
    '--ro-bind',
    '/usr',
    '/usr',
    '--symlink',
    'usr/bin',
    '/bin',
    '--symlink',
    'usr/lib',
    '/lib',
    '--symlink',
    'usr/lib64',
    '/lib64',
  ]
  const argv = [
    '--unshare-all',
    '--uid',
    '1000',
    '--gid',
    '1000',
    ...system,
    '--dev',
    '/dev',
    '--proc',
    '/proc',
    '--tmpfs',
    '/run',
    ...binds,
  ]
  const result = spawnSync('bwrap', [...argv, '--', ...plan.argv], {
    env: { PATH: '/usr/bin:/bin' },
    ...(process.getuid?.() === 0 ? user : {}),
  })
  if (result.status !== 0) throw new Error(String(result.stderr))
}

function makeProject(home: string, files: number): string {
  const project = join(home, 'project')
  mkdirSync(project, { recursive: true })
  for (let file = 0; file < files; file++) {
    const directory = join(project, `part-${Math.floor(file / 400)}`, `group-${Math.floor(file / 20) % 20}`)
    if (file % 20 === 0) mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, `file-${file}.js`), `// file ${file}\n${'export const value = 1\n'.repeat(20 + (file % 60))}`)
  }
  for (let part = 0; part * 400 < files; part++) writeFileSync(join(project, `part-${part}`, 'file-0.js'), 'first\n')
  plain(join(project, '.git'), ['init', '-q', '-b', 'main', project])
  plain(join(project, '.git'), ['-C', project, 'add', '-A'])
  const who = ['-c', 'user.name=bench', '-c', 'user.email=bench@example.org']
  plain(join(project, '.git'), [...who, 'commit', '-q', '-m', 'first'])
  return project
}

function plain(gitDir: string, argv: string[]): void {
  const env = { PATH: process.env.PATH ?? '', GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', HOME: '/nonexistent' }
  const place = argv[0] === 'init' ? [] : [`--git-dir=${gitDir}`]
  execFileSync('git', [...place, ...argv], { env, stdio: ['ignore', 'ignore', 'inherit'] })
}

function checkOwner(workspace: Workspace, uid: number): void {
  for (const name of readdirSync(workspace.path)) {
    if (statSync(join(workspace.path, name)).uid !== uid) throw new Error(`${name} is not the session's`)
  }
}

async function time<T>(run: () => Promise<T>): Promise<[number, T]> {
  const start = performance.now()
  const value = await run()
  return [performance.now() - start, value]
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] as number
}

function row(name: string, values: readonly number[], more = ''): void {
  console.log(
    `  ${name.padEnd(34)} ${median(values).toFixed(1).padStart(8)} / ${Math.min(...values)
      .toFixed(1)
      .padStart(8)}${more}`,
  )
}

function readOptions(argv: string[]): { files: number[]; rounds: number; folder: string } {
  const value = (name: string, fallback: string) => argv[argv.indexOf(name) + 1 || argv.length] ?? fallback
  return {
    files: value('--files', '3000,50000').split(',').map(Number),
    rounds: Number(value('--rounds', '5')),
    folder: value('--folder', tmpdir()),
  }
}
