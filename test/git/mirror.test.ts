import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { fetchMirror, hasCommit, listTreeAt, type Mirror, mergeBase, openMirror, readFileAt, resolveBase } from '../../git/index.ts'
import { lockRepository } from '../../git/repository-lock.ts'
import { isRoot, makeFolder, makeRepository, makeScene, personEnv, plainGit, sh, writeFiles } from './scene.ts'

async function mirrorOf(project: string, folder: string): Promise<Mirror> {
  const dataDir = join(folder, 'data')
  mkdirSync(dataDir, { recursive: true, mode: 0o711 })
  const mirror = await openMirror({ dataDir, tenant: 'octo', repositoryId: 7 })
  expect(await fetchMirror(mirror, { url: project })).toEqual({ kind: 'fetched' })
  return mirror
}

function commit(project: string, files: Record<string, string>, message = 'more'): string {
  writeFiles(project, files)
  plainGit(project, 'add', '-A')
  plainGit(project, 'commit', '-q', '-m', message)
  return plainGit(project, 'rev-parse', 'HEAD')
}

test('Q31: the mirror stays complete while base and branch move on, and finds the merge base', async () => {
  const folder = makeFolder()
  const project = makeRepository(folder)
  const fork = plainGit(project, 'rev-parse', 'HEAD')
  plainGit(project, 'checkout', '-q', '-b', 'topic')
  const topic = commit(project, { topic: '1\n' })
  plainGit(project, 'checkout', '-q', 'main')
  const mirror = await mirrorOf(project, folder)
  for (let n = 0; n < 5; n++) commit(project, { main: `${n}\n` })
  const main = plainGit(project, 'rev-parse', 'main')
  expect(await fetchMirror(mirror, { url: project })).toEqual({ kind: 'fetched' })
  expect(existsSync(join(mirror.path, 'shallow'))).toBe(false)
  expect(await mergeBase(mirror, main, topic)).toBe(fork)
  expect(plainGit(mirror.path, '--git-dir=.', 'rev-list', '--count', 'refs/grok/heads/main')).toBe('6')
  expect(plainGit(mirror.path, '--git-dir=.', 'fsck', '--connectivity-only')).toBe('')
  // What other bots do: the full clone turns shallow and has no merge base any more.
  sh(folder, 'git clone -q project naive; cd naive; git remote set-url origin "file://$PWD/../project"')
  commit(project, { main: 'last\n' })
  expect(
    spawnSync('sh', ['-c', 'git fetch -q --depth=1 origin main && git merge-base origin/topic FETCH_HEAD'], {
      cwd: join(folder, 'naive'),
      env: personEnv,
    }).status,
  ).toBe(1)
})

test('Q32: histories that never met have no merge base, which is said and not taken for an empty change', async () => {
  const folder = makeFolder()
  const project = makeRepository(folder)
  const one = plainGit(project, 'rev-parse', 'HEAD')
  plainGit(project, 'checkout', '-q', '--orphan', 'other')
  const other = commit(project, { other: '1\n' })
  const mirror = await mirrorOf(project, folder)
  expect(await mergeBase(mirror, one, other)).toBeNull()
})

test('a shallow repository is refused, with the reason', async () => {
  const folder = makeFolder()
  const project = makeRepository(folder)
  commit(project, { a: '1\n' })
  sh(folder, 'git clone -q --depth=1 "file://$PWD/project" shallow')
  const mirror = await openMirror({ dataDir: join(folder, 'data'), tenant: 'octo', repositoryId: 7 })
  expect(await fetchMirror(mirror, { url: join(folder, 'shallow') })).toMatchObject({ kind: 'failed', reason: 'shallow' })
})

test('the given repository is not touched by being mirrored', async () => {
  const folder = makeFolder()
  const project = makeRepository(folder)
  writeFiles(project, { 'not-committed': 'x\n' })
  const list = () => sh(project, 'find . -printf "%p %m %s %T@ %u\\n" | sort')
  const before = list()
  await mirrorOf(project, folder)
  expect(list()).toBe(before)
})

test('Q34: a pull request is fetched by its number into a private ref and compared with the commit the API named', async () => {
  const folder = makeFolder()
  const project = makeRepository(folder)
  const main = plainGit(project, 'rev-parse', 'HEAD')
  plainGit(project, 'checkout', '-q', '--detach')
  const head = commit(project, { fork: '1\n' })
  plainGit(project, 'update-ref', 'refs/pull/5/head', head)
  plainGit(project, 'checkout', '-q', 'main')
  const mirror = await mirrorOf(project, folder)
  const fetch = (refs: Record<string, string | null>) => fetchMirror(mirror, { url: project, refs })
  expect(await fetch({ 'refs/pull/5/head': head })).toEqual({ kind: 'fetched' })
  expect(await resolveBase(mirror, 'refs/pull/5/head')).toMatchObject({ kind: 'found', sha: head })
  expect(await fetch({ 'refs/pull/5/head': main })).toMatchObject({
    kind: 'ref-moved',
    ref: 'refs/pull/5/head',
    expected: main,
    actual: head,
  })
  expect(await fetch({ 'refs/heads/main': head })).toMatchObject({ kind: 'ref-moved', expected: head, actual: main })
  expect(await fetch({ 'refs/pull/6/head': null })).toMatchObject({ kind: 'ref-missing', ref: 'refs/pull/6/head' })
  expect(await fetch({ 'refs/heads/gone': null })).toMatchObject({ kind: 'ref-missing', ref: 'refs/heads/gone' })
  expect(plainGit(mirror.path, '--git-dir=.', 'for-each-ref', '--format=%(refname)').split('\n')).toEqual([
    'refs/grok/heads/main',
    'refs/grok/pull/5/head',
  ])
})

test('Q42: a commit that its branch has left is fetched by its id, as long as the remote has it', async () => {
  const folder = makeFolder()
  const project = makeRepository(folder)
  plainGit(project, 'checkout', '-q', '-b', 'topic')
  const left = commit(project, { topic: 'first\n' })
  plainGit(project, 'reset', '-q', '--hard', 'main')
  plainGit(project, 'update-ref', 'refs/pull/5/head', commit(project, { topic: 'rewritten\n' }))
  const mirror = await mirrorOf(project, folder)
  const url = `file://${project}`
  expect(await fetchMirror(mirror, { url, refs: { 'refs/pull/5/head': left } })).toMatchObject({ kind: 'ref-moved', expected: left })
  expect(await hasCommit(mirror, left)).toBe(false)
  expect(await fetchMirror(mirror, { url, commits: [left] })).toEqual({ kind: 'fetched' })
  expect(await hasCommit(mirror, left)).toBe(true)
  expect(await fetchMirror(mirror, { url, commits: ['f'.repeat(40)] })).toMatchObject({ kind: 'failed', reason: 'other' })
})

test('Q37: branches called like options, files, HEAD or our own prefix are branches like any other', async () => {
  const folder = makeFolder()
  const project = makeRepository(folder, { 'README.md': 'x\n' })
  const sha = plainGit(project, 'rev-parse', 'HEAD')
  const names = [
    '-x',
    '--upload-pack=touch',
    'HEAD',
    'README.md',
    'refs/heads/main',
    'a;id',
    '$(id)',
    "q'uote",
    'ümläut',
    'feature/x@y',
    'grok',
    'FETCH_HEAD',
    '0123456789012345678901234567890123456789',
  ]
  for (const name of names) plainGit(project, 'update-ref', `refs/heads/${name}`, sha)
  const mirror = await mirrorOf(project, folder)
  for (const name of names) {
    expect(await resolveBase(mirror, `refs/heads/${name}`), name).toMatchObject({ kind: 'found', sha, ref: `refs/heads/${name}` })
  }
  // A folder takes the place of a branch, and back.
  plainGit(project, 'update-ref', '-d', 'refs/heads/grok')
  plainGit(project, 'update-ref', 'refs/heads/grok/fix-1', sha)
  expect(await fetchMirror(mirror, { url: project })).toEqual({ kind: 'fetched' })
  expect(await resolveBase(mirror, 'grok/fix-1')).toMatchObject({ kind: 'found', sha })
  expect(await resolveBase(mirror, 'grok')).toMatchObject({ kind: 'missing' })
  for (const bad of ['a..b', 'a b', 'a~1', 'a^{tree}', 'a:b', 'a\n', 'x@{1}', '', '/', 'a/', 'a.lock', '.a']) {
    await expect(resolveBase(mirror, bad), bad).rejects.toThrow('not a full ref name')
  }
})

test.each([['trunk'], ['release/2.x'], ['main']])('Q40: the default branch is what the API says: %s', async branch => {
  const folder = makeFolder()
  const project = makeRepository(folder)
  plainGit(project, 'branch', '-M', branch)
  const mirror = await mirrorOf(project, folder)
  expect(await resolveBase(mirror, branch)).toMatchObject({ kind: 'found', ref: `refs/heads/${branch}` })
})

test('Q40: an empty repository and a missing branch are answers with a sentence for people, not crashes', async () => {
  const folder = makeFolder()
  const project = join(folder, 'empty')
  plainGit(folder, 'init', '-q', '-b', 'main', project)
  const mirror = await mirrorOf(project, folder)
  expect(await resolveBase(mirror, 'main')).toEqual({
    kind: 'empty',
    message: 'The repository has no commit yet, so there is nothing to check out.',
  })
  commit(project, { a: '1\n' })
  expect(await fetchMirror(mirror, { url: project })).toEqual({ kind: 'fetched' })
  expect(await resolveBase(mirror, 'master')).toEqual({ kind: 'missing', message: 'The repository has no branch master (any more).' })
  plainGit(project, 'branch', '-M', 'renamed')
  plainGit(project, 'symbolic-ref', 'HEAD', 'refs/heads/missing')
  expect(await fetchMirror(mirror, { url: project })).toEqual({ kind: 'fetched' })
  expect(await resolveBase(mirror, 'main')).toMatchObject({ kind: 'missing' })
  expect(await resolveBase(mirror, 'renamed')).toMatchObject({ kind: 'found' })
  expect(await resolveBase(mirror, 'f'.repeat(40))).toEqual({
    kind: 'missing',
    message: `The repository has no commit ${'f'.repeat(40)} (any more).`,
  })
})

test('Q33: nothing of .gitmodules is fetched, whatever it names', async () => {
  const folder = makeFolder()
  let connections = 0
  const tripwire = createServer(socket => {
    connections++
    socket.destroy()
  })
  await new Promise<void>(resolve => tripwire.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void tripwire.close())
  const port = (tripwire.address() as { port: number }).port
  const project = makeRepository(folder, {
    '.gitmodules': `[submodule "a"]\n\tpath = a\n\turl = http://127.0.0.1:${port}/a.git\n\tfetchRecurseSubmodules = true\n[submodule "b"]\n\tpath = b\n\turl = ssh://127.0.0.1:${port}/b\n`,
  })
  for (const path of ['a', 'b']) plainGit(project, 'update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},${path}`)
  plainGit(project, 'commit', '-q', '-m', 'submodules')
  const mirror = await mirrorOf(project, folder)
  expect(await fetchMirror(mirror, { url: project })).toEqual({ kind: 'fetched' })
  expect(connections).toBe(0)
})

test('Q33: a remote that never answers ends with the time-out, and no process of it is left', async () => {
  const folder = makeFolder()
  const silent = createServer(() => {})
  await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void silent.close())
  const url = `http://127.0.0.1:${(silent.address() as { port: number }).port}/x.git`
  const mirror = await openMirror({ dataDir: join(folder, 'data'), tenant: 'octo', repositoryId: 7, wallMs: 700 })
  const started = Date.now()
  expect(await fetchMirror(mirror, { url })).toMatchObject({ kind: 'failed', reason: 'timed-out' })
  expect(Date.now() - started).toBeLessThan(10_000)
  expect(processesWith(url)).toEqual([])
  const stop = new AbortController()
  setTimeout(() => stop.abort(), 200)
  const slow = await openMirror({ dataDir: join(folder, 'data'), tenant: 'octo', repositoryId: 8 })
  expect(await fetchMirror(slow, { url, signal: stop.signal })).toMatchObject({ kind: 'failed', reason: 'cancelled' })
  expect(processesWith(url)).toEqual([])
})

function processesWith(text: string): string[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(pid => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, 'latin1')]
      } catch {
        return []
      }
    })
    .filter(line => line.includes(text))
}

test.each([
  'ssh://x.example/a',
  'git://x.example/a',
  'ext::sh -c id',
  'https://user:secret@x.example/a',
  'ftp://x.example/a',
  'relative/folder',
  '-x',
])('a remote like %j is never handed to git', async url => {
  const folder = makeFolder()
  const mirror = await openMirror({ dataDir: join(folder, 'data'), tenant: 'octo', repositoryId: 7 })
  await expect(fetchMirror(mirror, { url })).rejects.toThrow()
})

test.each(['../up', '', '.', '..', 'a/b', '.hidden', 'x\0'])('a tenant called %j names no folder', async tenant => {
  await expect(openMirror({ dataDir: makeFolder(), tenant, repositoryId: 1 })).rejects.toThrow('folder name')
})

test('lock files and half-written packs of a git that died are taken away by whoever holds the lock', async () => {
  const folder = makeFolder()
  const project = makeRepository(folder)
  const mirror = await mirrorOf(project, folder)
  const sha = commit(project, { a: '1\n' })
  const litter = [
    'packed-refs.lock',
    'config.lock',
    'HEAD.lock',
    'shallow.lock',
    'refs/grok/heads/main.lock',
    'objects/pack/tmp_pack_x',
    'objects/pack/tmp_idx_x',
  ]
  for (const name of litter) writeFileSync(join(mirror.path, name), '')
  mkdirSync(join(mirror.objects, 'tmp_objdir-incoming-x'))
  // Without that, git itself stays stuck.
  expect(
    spawnSync('git', ['--git-dir', mirror.path, 'fetch', '-q', project, '+refs/heads/*:refs/grok/heads/*'], { env: personEnv }).status,
  ).not.toBe(0)
  expect(await fetchMirror(mirror, { url: project, refs: { 'refs/heads/main': sha } })).toEqual({ kind: 'fetched' })
  expect(litter.filter(name => existsSync(join(mirror.path, name)))).toEqual([])
  expect(existsSync(join(mirror.objects, 'tmp_objdir-incoming-x'))).toBe(false)
})

test('the lock keeps others out, across processes, and is free as soon as its holder is dead', async () => {
  const file = join(makeFolder(), 'lock')
  const held = await lockRepository(file, 1000)
  expect(await lockRepository(file, 0)).toBeNull()
  expect(await lockRepository(file, 100)).toBeNull()
  held?.release()
  held?.release()
  const script = `import { lockRepository } from '${join(import.meta.dirname, '../../git/repository-lock.ts')}'
    const lock = await lockRepository(process.argv[1], 1000)
    console.log(lock === null ? 'refused' : 'held')
    setInterval(() => {}, 1000)`
  const holder = spawn(process.execPath, ['--input-type=module-typescript', '-e', script, file], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void holder.kill('SIGKILL'))
  await new Promise<void>(resolve => holder.stdout.once('data', chunk => String(chunk) === 'held\n' && resolve()))
  expect(await lockRepository(file, 0)).toBeNull()
  holder.kill('SIGKILL')
  const taken = await lockRepository(file, 5000)
  expect(taken).not.toBeNull()
  taken?.release()
})

test('an orphan of a dead host still holds the lock, so that nobody writes beside it', async () => {
  const file = join(makeFolder(), 'lock')
  const held = await lockRepository(file, 1000)
  const orphan = spawn('sleep', ['2'], { stdio: ['ignore', 'ignore', 'ignore', held?.fd as number], detached: true })
  held?.release()
  expect(await lockRepository(file, 0)).toBeNull()
  orphan.kill('SIGKILL')
  const taken = await lockRepository(file, 5000)
  expect(taken).not.toBeNull()
  taken?.release()
})

test('eight fetches of one mirror at the same time all succeed', async () => {
  const folder = makeFolder()
  const project = makeRepository(folder)
  const dataDir = join(folder, 'data')
  mkdirSync(dataDir, { mode: 0o711 })
  const results = await Promise.all(
    Array.from({ length: 8 }, async (_, n) => {
      const mirror = await openMirror({ dataDir, tenant: 'octo', repositoryId: 7 })
      plainGit(project, 'update-ref', `refs/heads/b${n}`, 'HEAD')
      return await fetchMirror(mirror, { url: project })
    }),
  )
  expect(results).toEqual(Array.from({ length: 8 }, () => ({ kind: 'fetched' })))
})

test('many small packs become few, and no object is lost', async () => {
  const folder = makeFolder()
  const project = makeRepository(folder)
  const mirror = await mirrorOf(project, folder)
  const ids: string[] = []
  for (let n = 0; n < 60; n++) {
    // Nothing reaches these: a commit of a branch that was forced away must stay, a task may stand on it.
    writeFileSync(join(project, 'x'), `${n}\n`)
    ids.push(plainGit(project, 'hash-object', '-w', 'x'))
    sh(project, `echo ${ids.at(-1)} | git pack-objects -q ${join(mirror.objects, 'pack', 'pack')}`)
  }
  expect(await fetchMirror(mirror, { url: project })).toEqual({ kind: 'fetched' })
  const packs = readdirSync(join(mirror.objects, 'pack')).filter(name => name.endsWith('.pack'))
  expect(packs.length).toBeLessThan(10)
  for (const id of ids) plainGit(mirror.path, '--git-dir=.', 'cat-file', '-e', id)
})

test('files of a commit are read as bytes from objects: links, folders, submodules and large files are refused', async () => {
  const folder = makeFolder()
  const project = makeRepository(folder, {
    'a.yml': Buffer.from([0xff, 0x0d, 0x0a, 0x00]),
    'run.sh': { exec: 'x' },
    link: { link: '/etc/passwd' },
    'dir/file': '1',
    dirlink: { link: 'dir' },
    big: 'x'.repeat(2000),
    '[a]*': 'glob',
    '-x': 'dash',
    'ü "q"\n': 'odd',
  })
  writeFileSync(Buffer.concat([Buffer.from(`${project}/`), Buffer.from([0xff])]), 'no utf-8')
  plainGit(project, 'add', '-A')
  plainGit(project, 'update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},sub`)
  plainGit(project, 'commit', '-q', '-m', 'odd')
  const sha = plainGit(project, 'rev-parse', 'HEAD')
  const mirror = await mirrorOf(project, folder)
  const read = (path: string) => readFileAt(mirror, sha, path, 1000)
  expect(await read('a.yml')).toEqual({ kind: 'file', content: Buffer.from([0xff, 0x0d, 0x0a, 0x00]), mode: '100644' })
  expect(await read('run.sh')).toMatchObject({ kind: 'file', mode: '100755' })
  expect(await read('dir/file')).toMatchObject({ kind: 'file', content: Buffer.from('1') })
  expect(await read('link')).toMatchObject({ kind: 'refused', reason: 'symlink' })
  expect(await read('sub')).toMatchObject({ kind: 'refused', reason: 'submodule' })
  expect(await read('dir')).toMatchObject({ kind: 'refused', reason: 'folder' })
  expect(await read('big')).toMatchObject({ kind: 'refused', reason: 'too-large' })
  for (const path of ['[a]*', '-x', 'ü "q"\n', '\\xff']) expect(await read(path), path).toMatchObject({ kind: 'file' })
  for (const path of ['absent', 'dirlink/file', 'dir/', '../a.yml', '', '/a.yml', 'a.yml/x', 'a.yml\0', '*'])
    expect(await read(path), path).toEqual({ kind: 'absent' })
  const listed = await listTreeAt(mirror, sha, { path: 'dir', entriesMax: 10 })
  expect(listed).toMatchObject([{ path: 'dir/file', mode: '100644', type: 'blob', bytes: 1 }])
  expect((await listTreeAt(mirror, sha, { recursive: true, entriesMax: 100 }))?.map(entry => entry.path)).toContain('\\xff')
  expect(await listTreeAt(mirror, sha, { entriesMax: 3 })).toBeNull()
})

// Only root has other users to show it with.
if (isRoot) {
  test('as root, another uid reads neither the mirror nor its objects; a session of this repository reads objects alone', async () => {
    const scene = await makeScene()
    const { mirror } = scene
    const can = (user: { uid: number; gid: number }, path: string) =>
      spawnSync('sh', ['-c', 'test -r "$1" && { test ! -d "$1" || ls "$1" > /dev/null; }', 'sh', path], { uid: user.uid, gid: user.gid })
        .status === 0
    const pack = join(mirror.objects, 'pack', readdirSync(join(mirror.objects, 'pack')).find(name => name.endsWith('.pack')) as string)
    const paths = [
      pack,
      mirror.objects,
      join(mirror.path, 'config'),
      join(mirror.path, 'HEAD'),
      mirror.path,
      mirror.lock,
      join(scene.store.path, 'config'),
      join(scene.dataDir, 'git'),
    ]
    expect(paths.map(path => can(scene.user, path))).toEqual([true, true, false, false, false, false, false, false])
    const stranger = { uid: 61_999, gid: scene.user.gid + 1 }
    expect(paths.map(path => can(stranger, path))).toEqual(paths.map(() => false))
    const second = await openMirror({ dataDir: scene.dataDir, tenant: 'octo', repositoryId: 2 })
    expect(second.gid).not.toBe(mirror.gid)
    expect((await openMirror({ dataDir: scene.dataDir, tenant: 'octo', repositoryId: 1 })).gid).toBe(mirror.gid)
    expect(statSync(mirror.objects).mode & 0o777).toBe(0o750)
  })
}
