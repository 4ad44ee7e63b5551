import { spawn, spawnSync } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import {
  adoptTree,
  listTasks,
  openStore,
  openWorkspace,
  planRestore,
  planTree,
  removeLeftovers,
  removeRun,
  removeTask,
} from '../../git/index.ts'
import { countIndexEntries, listGitlinks, setIndexOwner } from '../../git/index-owner.ts'
import {
  asAgent,
  isRoot,
  listNames,
  makeFolder,
  makeRepository,
  makeScene,
  openScene,
  personEnv,
  plainGit,
  readTree,
  rules,
  runInside,
  runPlan,
  type Scene,
  sampleFiles,
  sh,
  takeTree,
  workspaceOf,
} from './scene.ts'

const edit = 'echo "export const add = (a, b) => a + b" > src/add.js'

test('every file is the session user’s from the start, and the index needs no second look inside', async () => {
  const scene = await makeScene()
  const workspace = await workspaceOf(scene)
  const owners = new Set(
    readdirSync(workspace.path, { recursive: true, encoding: 'utf8' }).map(name => lstatSync(join(workspace.path, name)).uid),
  )
  expect([...owners]).toEqual([scene.user.uid])
  expect(statSync(workspace.path).mode & 0o777).toBe(0o700)
  expect(statSync(workspace.index).uid).toBe(process.getuid?.())
  expect(workspace).toMatchObject({
    baseSha: scene.base,
    baseTree: scene.baseTree,
    tree: scene.baseTree,
    files: 4,
    submodules: [],
    extraObjects: null,
  })
  // diff-files names every entry whose stat data do not fit, before it looks at content.
  expect(asAgent(scene, workspace, 'git diff-files; git diff-index --cached HEAD')).toBe('')
  const plan = planTree({ workspace, store: scene.store, selection: { kind: 'all' }, workDir: join(scene.folder, 'run') })
  expect(runPlan(scene, plan).status).toBe(0)
  expect(readFileSync(join(plan.quarantine, 'raw'), 'latin1')).toBe('')
  // Red: with the host's own numbers in it, git takes every file for changed.
  const other = await openWorkspace({
    mirror: scene.mirror,
    store: scene.store,
    sha: scene.base,
    runDir: join(scene.folder, 'run'),
    user: scene.user,
    insideUser: { uid: 4, gid: 4 },
  })
  expect(asAgent(scene, other, 'git diff-files').trim().split('\n')).toHaveLength(4)
})

test('the agent has an everyday repository: status, log, blame, add, commit, stash, branch, without any environment', async () => {
  const scene = await makeScene()
  const workspace = await workspaceOf(scene)
  const seen = asAgent(
    scene,
    workspace,
    `${edit}; git status --porcelain; git log --format=%s; git commit -qam mine; git log --format=%s; git blame -s src/add.js | wc -l; git checkout -q -b topic; echo x > x; git add x; git stash -q; git stash pop -q; git remote; git for-each-ref --format='%(refname)'; git fsck 2>&1 | grep -v dangling || true`,
  )
  expect(seen.split('\n')).toEqual([' M src/add.js', 'first', 'mine', 'first', '1', 'refs/heads/topic', ''])
  expect(asAgent(scene, workspace, 'cat .git/HEAD .git/objects/info/alternates; ls .git')).toMatch(
    /^ref: refs\/heads\/topic\n\/grokbot\/objects\n/,
  )
})

test('the agent can neither write the mirror’s objects nor reach anything else of the host’s git', async () => {
  const scene = await makeScene()
  const workspace = await workspaceOf(scene)
  expect(() => asAgent(scene, workspace, 'touch /grokbot/objects/x')).toThrow('Read-only')
  expect(asAgent(scene, workspace, `ls /grokbot; ls ${scene.dataDir} 2>&1 || true`)).toMatch(/^objects\nls: cannot access/)
})

test('Q41: twelve workspaces of one commit opened at once are all whole', async () => {
  const scene = await makeScene()
  const runDir = join(scene.folder, 'run')
  mkdirSync(runDir, { mode: 0o711 })
  const { mirror, store, user, base } = scene
  const workspaces = await Promise.all(Array.from({ length: 12 }, () => openWorkspace({ mirror, store, sha: base, runDir, user })))
  expect(new Set(workspaces.map(workspace => workspace.path)).size).toBe(12)
  for (const workspace of workspaces)
    expect(sh(workspace.path, 'cat src/add.js README.md')).toBe(`${sampleFiles['src/add.js']}${sampleFiles['README.md']}`)
  await Promise.all(workspaces.map(workspace => workspace.remove()))
  expect(listNames(runDir)).toEqual([])
  expect(listNames(dirname(store.path))).toEqual(['store.git'])
  // Nothing of them is known to the mirror, so nothing can be left there by one that is killed.
  expect(existsSync(join(mirror.path, 'worktrees'))).toBe(false)
})

test('a workspace of a snapshot has that snapshot’s files, its objects, and nothing of other snapshots', async () => {
  const scene = await makeScene()
  const first = await workspaceOf(scene)
  asAgent(scene, first, 'echo one > one')
  const one = await takeTree(scene, first)
  asAgent(scene, first, `echo two > two; ${edit}; chmod +x README.md; rm src/keep.js`)
  const two = await takeTree(scene, first)
  if (one.kind !== 'adopted' || two.kind !== 'adopted') throw new Error('not adopted')
  await first.remove()

  const resumed = await workspaceOf(scene, two.tree)
  expect(resumed).toMatchObject({ baseTree: scene.baseTree, tree: two.tree })
  expect(asAgent(scene, resumed, 'git status --porcelain; git diff-files; cat one two src/add.js')).toBe(
    'M  README.md\nA  one\nM  src/add.js\nD  src/keep.js\nA  two\none\ntwo\nexport const add = (a, b) => a + b\n',
  )
  expect(await takeTree(scene, resumed)).toMatchObject({ kind: 'adopted', tree: two.tree, untracked: [] })
  asAgent(scene, resumed, 'echo three > three; git commit -qm resumed')
  const three = await takeTree(scene, resumed, { kind: 'change', include: ['three'] })
  if (three.kind !== 'adopted') throw new Error(three.reason)
  expect(Object.keys(readTree(scene, three.tree)).sort()).toEqual([
    '100644 .gitignore',
    '100644 one',
    '100644 src/add.js',
    '100644 three',
    '100644 two',
    '100755 README.md',
  ])
  // A tree only the first snapshot had is not among what this session can read.
  const objects = new Set(asAgent(scene, resumed, "git cat-file --batch-all-objects --batch-check='%(objectname)'").split('\n'))
  expect(objects.has(two.tree)).toBe(true)
  expect(objects.has(one.tree)).toBe(false)
})

test('a work tree brought back to what an older commit had gives that commit’s tree', async () => {
  const folder = makeFolder()
  const project = makeRepository(folder)
  const older = plainGit(project, 'rev-parse', 'HEAD^{tree}')
  writeFileSync(join(project, 'README.md'), 'newer\n')
  plainGit(project, 'commit', '-q', '-a', '-m', 'second')
  const scene = await openScene(folder, project)
  const workspace = await workspaceOf(scene)
  asAgent(scene, workspace, 'git show HEAD^:README.md > README.md')
  expect(await takeTree(scene, workspace)).toMatchObject({ kind: 'adopted', tree: older })
})

test('a file so large that git packs it at once comes out like any other', async () => {
  const scene = await makeScene()
  const workspace = await workspaceOf(scene)
  // Above the tree gitdir's core.bigFileThreshold; holes cost no disk.
  asAgent(scene, workspace, `truncate -s 65M big; ${edit}`)
  const plan = planTree({ workspace, store: scene.store, selection: { kind: 'all' }, workDir: join(scene.folder, 'run') })
  expect(runPlan(scene, plan)).toMatchObject({ status: 0 })
  expect(listNames(join(plan.quarantine, 'objects', 'pack')).length).toBeGreaterThan(0)
  const adopt = (fileBytesMax: number) =>
    adoptTree({ store: scene.store, plan, rules: { ...rules, fileBytesMax }, baseTree: scene.baseTree })
  expect(await adopt(50_000_000)).toEqual({ kind: 'refused', path: 'big', reason: 'it has 68157440 bytes, more than 50000000' })
  const adopted = await adopt(70_000_000)
  if (adopted.kind !== 'adopted') throw new Error(adopted.reason)
  expect(sh(scene.store.path, `git --git-dir=. ls-tree -l ${adopted.tree} big`)).toMatch(/68157440\tbig/)
})

test('a clean checkout of the final tree has no trace of the tree the agent prepared', async () => {
  const scene = await makeScene()
  const workspace = await workspaceOf(scene)
  asAgent(scene, workspace, `${edit}; mkdir node_modules; echo evil > node_modules/x; echo stray > stray`)
  const change = await takeTree(scene, workspace, { kind: 'change', include: [] })
  if (change.kind !== 'adopted') throw new Error(change.reason)
  const clean = await workspaceOf(scene, change.tree)
  expect(sh(clean.path, 'find . -type f | sort; cat src/add.js')).toBe(
    './.gitignore\n./README.md\n./src/add.js\n./src/keep.js\nexport const add = (a, b) => a + b\n',
  )
})

test('a work tree is brought to a recorded tree, whatever the agent has left, and ignored files stay', async () => {
  const scene = await makeScene({ ...sampleFiles, 'lib/a': 'a\n', link: { link: 'lib' } })
  const workspace = await workspaceOf(scene)
  asAgent(scene, workspace, 'echo kept > new; mkdir node_modules; echo dep > node_modules/x')
  const wanted = await takeTree(scene, workspace)
  if (wanted.kind !== 'adopted') throw new Error(wanted.reason)
  asAgent(
    scene,
    workspace,
    `${edit}; rm new README.md; mkdir README.md; echo x > README.md/x; rm -r lib; ln -s src lib; rm link; echo file > link; mkfifo src/pipe; echo more > more; git add -A; mkdir -p shut/er; echo x > shut/er/x; chmod 000 shut/er shut; git update-index --assume-unchanged src/add.js; chmod 000 src/keep.js`,
  )
  const plan = await planRestore({ workspace, store: scene.store, tree: wanted.tree, workDir: join(scene.folder, 'run') })
  expect(runInside(plan, scene.user, plan.argv)).toMatchObject({ status: 0, stdout: `${wanted.tree}\n` })
  await plan.remove()
  expect(await takeTree(scene, workspace)).toMatchObject({ kind: 'adopted', tree: wanted.tree })
  expect(sh(workspace.path, 'cat new node_modules/x lib/a; ls src; ls shut/er')).toBe('kept\ndep\na\nadd.js\nkeep.js\n')
})

test('a store’s own host files are read by nobody but the host', async () => {
  const scene = await makeScene()
  expect(statSync(scene.store.path).mode & 0o777).toBe(0o700)
  expect(statSync(scene.mirror.path).mode & 0o777).toBe(0o700)
  expect(readFileSync(join(scene.store.path, 'objects/info/alternates'), 'utf8')).toBe(`${scene.mirror.objects}\n`)
})

test('removing a workspace is safe to repeat and does not stop at folders without rights or at names too long for a path', async () => {
  const scene = await makeScene()
  const workspace = await workspaceOf(scene)
  asAgent(
    scene,
    workspace,
    'mkdir -p a/b/c; touch a/b/c/d; chmod 000 a/b a; for n in $(seq 60); do mkdir -p xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; cd xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done; touch deep',
  )
  await workspace.remove()
  await workspace.remove()
  expect(listNames(join(scene.folder, 'run'))).toEqual([])
})

test('removing a run follows no link and leaves what lies outside', async () => {
  const folder = makeFolder()
  mkdirSync(join(folder, 'outside'))
  writeFileSync(join(folder, 'outside', 'kept'), '')
  mkdirSync(join(folder, 'run', 'in'), { recursive: true })
  for (const name of ['run/a', 'run/in/b']) symlinkSync(join(folder, 'outside'), join(folder, name))
  await removeRun(join(folder, 'run'))
  await removeRun(join(folder, 'run'))
  expect(listNames(folder)).toEqual(['outside'])
  expect(listNames(join(folder, 'outside'))).toEqual(['kept'])
})

// Only root has other users to show it with.
if (isRoot) {
  test('as root, the host does not go into a user’s folder while a process of that user could swap what is in it', async () => {
    const folder = makeFolder()
    const theirs = join(folder, 'run', 'theirs')
    mkdirSync(join(theirs, 'of-root'), { recursive: true })
    writeFileSync(join(theirs, 'of-root', 'file'), '')
    sh(folder, 'chmod 711 run; chown 61777:61777 run/theirs')
    // It keeps its folder from being empty, as an attacker would who waits for root to come in.
    const script = 'while true; do echo x > x; ln -sfn /etc link; done 2>/dev/null'
    const intruder = spawn('bash', ['-c', script], { cwd: theirs, uid: 61_777, gid: 61_777, stdio: 'ignore', detached: true })
    await expect(removeRun(join(folder, 'run'))).rejects.toThrow('processes of uid 61777')
    expect(existsSync(join(theirs, 'of-root', 'file'))).toBe(true)
    process.kill(-(intruder.pid as number), 'SIGKILL')
    await vi.waitFor(() => removeRun(join(folder, 'run')), { timeout: 10_000 })
    expect(existsSync(join(folder, 'run'))).toBe(false)
  })
}

test('Q55: leftovers of dead attempts are found and go, the store with its trees stays', async () => {
  const scene = await makeScene()
  const workspace = await workspaceOf(scene)
  asAgent(scene, workspace, edit)
  const adopted = await takeTree(scene, workspace)
  if (adopted.kind !== 'adopted') throw new Error(adopted.reason)
  mkdirSync(join(scene.store.path, 'incoming-0123'))
  writeFileSync(join(scene.store.path, 'mix-0123.index'), '')
  const task = { dataDir: scene.dataDir, taskId: 'task-1' }
  expect(listTasks(scene.dataDir).map(({ taskId }) => taskId)).toEqual(['task-1'])
  for (let again = 0; again < 2; again++) {
    await removeLeftovers(task)
    expect(listNames(dirname(scene.store.path))).toEqual(['store.git'])
    expect(listNames(scene.store.path)).toEqual(['HEAD', 'config', 'objects', 'refs'])
  }
  await removeRun(join(scene.folder, 'run'))
  const next = await workspaceOf(
    { ...scene, store: openStore({ dataDir: scene.dataDir, mirror: scene.mirror, taskId: 'task-1' }) },
    adopted.tree,
  )
  expect(sh(next.path, 'cat src/add.js')).toBe('export const add = (a, b) => a + b\n')
  await removeTask(task)
  await removeTask(task)
  expect(listTasks(scene.dataDir).map(({ taskId }) => taskId)).toEqual([])
})

test('Q47: a tracked link is checked out as a link, and nothing is written through one', async () => {
  const folder = makeFolder()
  mkdirSync(join(folder, 'outside'), { mode: 0o777 })
  const scene = await openScene(
    folder,
    makeRepository(folder, { link: { link: join(folder, 'outside') }, 'run.sh': { exec: '#!/bin/sh\n' } }),
  )
  const workspace = await workspaceOf(scene)
  expect(lstatSync(join(workspace.path, 'link')).isSymbolicLink()).toBe(true)
  expect(lstatSync(join(workspace.path, 'run.sh')).mode & 0o777).toBe(0o755)
  expect(listNames(join(folder, 'outside'))).toEqual([])
})

test('the index is rewritten for the inside user as git itself reads it, and anything else is refused', async () => {
  const folder = makeFolder()
  const project = makeRepository(folder, { a: '1', [`long-${'n'.repeat(200)}`]: '2', 'x/y': '3', ü: '4' })
  plainGit(project, 'update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},sub`)
  const index = readFileSync(join(project, '.git', 'index'))
  const owned = setIndexOwner(index, { uid: 1000, gid: 4_000_000_000 })
  expect(countIndexEntries(owned)).toBe(5)
  expect(listGitlinks(owned).map(String)).toEqual(['sub'])
  writeFileSync(join(folder, 'index'), owned)
  const debug = spawnSync('git', ['ls-files', '--debug'], {
    cwd: project,
    env: { ...personEnv, GIT_INDEX_FILE: join(folder, 'index') },
    encoding: 'utf8',
  })
  expect(debug.stderr).toBe('')
  expect(debug.stdout.match(/uid: 1000\tgid: 4000000000/g)).toHaveLength(5)
  expect(() => setIndexOwner(Buffer.from('DIRC junk'), { uid: 1, gid: 1 })).toThrow('not a version 2 git index')
  plainGit(project, 'update-index', '--index-version', '4')
  expect(() => setIndexOwner(readFileSync(join(project, '.git', 'index')), { uid: 1, gid: 1 })).toThrow('version 2')
})

test('a commit the mirror does not have opens no workspace and leaves nothing', async () => {
  const scene = await makeScene()
  const missing: Scene = { ...scene, base: 'f'.repeat(40) }
  await expect(workspaceOf(missing)).rejects.toThrow()
  expect(listNames(join(scene.folder, 'run'))).toEqual([])
  expect(listNames(dirname(scene.store.path))).toEqual(['store.git'])
})

test('a host with the narrowest umask opens workspaces and makes trees like any other', async () => {
  const before = process.umask(0o077)
  onTestFinished(() => void process.umask(before))
  const scene = await makeScene()
  const workspace = await workspaceOf(scene)
  asAgent(scene, workspace, `${edit}; chmod +x README.md`)
  const adopted = await takeTree(scene, workspace)
  if (adopted.kind !== 'adopted') throw new Error(adopted.reason)
  expect(Object.keys(readTree(scene, adopted.tree))).toContain('100755 README.md')
  const resumed = await workspaceOf(scene, adopted.tree)
  expect(asAgent(scene, resumed, 'git diff-files; git log --format=%s; cat src/add.js')).toBe('first\nexport const add = (a, b) => a + b\n')
})

test('a plan that was never run is refused', async () => {
  const scene = await makeScene()
  const workspace = await workspaceOf(scene)
  const plan = planTree({ workspace, store: scene.store, selection: { kind: 'all' }, workDir: join(scene.folder, 'run') })
  expect(await adoptTree({ store: scene.store, plan, rules, baseTree: scene.baseTree })).toEqual({
    kind: 'refused',
    path: '',
    reason: 'the tree sandbox gave no tree',
  })
  await plan.remove()
  expect(existsSync(dirname(plan.quarantine))).toBe(false)
})

// Only root has other users to show it with.
if (isRoot) {
  test('as root, a session with another group, as root itself, or behind a closed folder is told why it can not start', async () => {
    const scene = await makeScene()
    const runDir = join(scene.folder, 'run')
    mkdirSync(runDir, { mode: 0o711 })
    const open = (user: { uid: number; gid: number }, where = runDir) =>
      openWorkspace({ mirror: scene.mirror, store: scene.store, sha: scene.base, runDir: where, user })
    await expect(open({ uid: 61_234, gid: 61_234 })).rejects.toThrow(`gid must be ${scene.mirror.gid}`)
    await expect(open({ uid: 0, gid: scene.user.gid })).rejects.toThrow('must not run as root')
    mkdirSync(join(scene.folder, 'closed', 'run'), { recursive: true })
    sh(scene.folder, 'chmod 700 closed')
    await expect(open(scene.user, join(scene.folder, 'closed', 'run'))).rejects.toThrow('chmod o+x')
  })
}
