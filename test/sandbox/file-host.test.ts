import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, linkSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type FileHost, sandboxLimitDefaults } from '../../sandbox/index.ts'
import { give, makePlace, type Opened, open, type Place, text, user } from './open.ts'
import { descendants } from './processes.ts'

const kib = 1024
const mib = 1024 * kib

async function openFiles(prepare: (place: Place) => void = () => {}, options = {}): Promise<Opened & { files: FileHost }> {
  const place = makePlace()
  prepare(place)
  const opened = await open({ files: true, ...options }, place)
  return { ...opened, files: opened.sandbox.files as FileHost }
}

/** A file of the sandbox user's in the workspace, as a checkout would have made it. */
function put(place: Place, name: string, content: string | Uint8Array, mode = 0o644): void {
  const path = join(place.workspace, name)
  mkdirSync(join(path, '..'), { recursive: true })
  for (let folder = join(path, '..'); folder !== place.workspace; folder = join(folder, '..')) give(folder)
  writeFileSync(path, content)
  chmodSync(path, mode)
  give(path)
}

/** Its bwrap, its pid 1 and the process itself, in that order. */
function fileHostPids(): number[] {
  return descendants()
    .filter(({ command }) => command.includes('/run/grokbot/file-host/main'))
    .map(({ pid }) => pid)
}

test('reads, writes, lists and walks, relative to the workspace or by absolute inside paths', async () => {
  const { files, workspace } = await openFiles(place => {
    put(place, 'a.txt', 'alpha')
    put(place, '.gitignore', 'build\n')
    put(place, 'build/out', 'x')
  })
  expect({
    read: await files.read('a.txt', kib),
    absolute: await files.read('/workspace/a.txt', kib),
    created: await files.write('deep/er/b.txt', Buffer.from('beta')),
    again: await files.write('deep/er/b.txt', Buffer.from('gamma')),
    home: await files.write('/home/agent/note', Buffer.from('n')),
    tmp: await files.write('/tmp/note', Buffer.from('n')),
    list: await files.list('.', 10),
    walk: await files.walk('/workspace', 10),
    fewer: await files.walk('/workspace', 2),
  }).toEqual({
    read: { kind: 'read', content: Buffer.from('alpha'), mode: 0o644 },
    absolute: { kind: 'read', content: Buffer.from('alpha'), mode: 0o644 },
    created: { kind: 'written', created: true },
    again: { kind: 'written', created: false },
    home: { kind: 'written', created: true },
    tmp: { kind: 'written', created: true },
    list: {
      kind: 'listed',
      entries: [
        { name: '.gitignore', type: 'file', bytes: 6 },
        { name: 'a.txt', type: 'file', bytes: 5 },
        { name: 'build', type: 'dir', bytes: 4096 },
        { name: 'deep', type: 'dir', bytes: 4096 },
      ],
      more: false,
    },
    walk: { kind: 'walked', paths: ['.gitignore', 'a.txt', 'deep/er/b.txt'], more: false },
    fewer: { kind: 'walked', paths: ['.gitignore', 'a.txt'], more: true },
  })
  expect(readFileSync(join(workspace, 'deep/er/b.txt'), 'utf8')).toBe('gamma')
})

test('any bytes come back as they went in, up to 20 MiB, and the file belongs to the sandbox user', async () => {
  const { files, workspace } = await openFiles()
  const content = Buffer.alloc(20 * mib, Buffer.from([0, 255, 13, 10, 200, 7]))
  expect(await files.write('big', content)).toEqual({ kind: 'written', created: true })
  const read = await files.read('big', 30 * mib)
  expect(read.kind === 'read' && Buffer.compare(Buffer.from(read.content), content)).toBe(0)
  expect(statSync(join(workspace, 'big')).uid).toBe(user.uid)
})

test('a write keeps the mode of an existing file and leaves no temporary file', async () => {
  const { files, workspace } = await openFiles(place => put(place, 'run.sh', 'old', 0o755))
  await files.write('run.sh', Buffer.from('new'))
  expect([statSync(join(workspace, 'run.sh')).mode & 0o777, readdirSync(workspace)]).toEqual([0o755, ['run.sh']])
})

test('a symlink inside the workspace is read and written through', async () => {
  const { files, workspace } = await openFiles(place => {
    put(place, 'real.txt', 'old')
    symlinkSync('real.txt', join(place.workspace, 'link.txt'))
  })
  await files.write('link.txt', Buffer.from('new'))
  expect([await files.read('real.txt', kib), readFileSync(join(workspace, 'real.txt'), 'utf8')]).toEqual([
    { kind: 'read', content: Buffer.from('new'), mode: 0o644 },
    'new',
  ])
})

test('what cannot be done is a fault with its own code', async () => {
  const { files, sh } = await openFiles(place => {
    put(place, 'file', 'x')
    put(place, 'large', Buffer.alloc(3000))
    symlinkSync('loop', join(place.workspace, 'loop'))
  })
  await sh(
    'mkfifo fifo; mkdir folder locked; chmod 000 locked; perl -MIO::Socket::UNIX -e "IO::Socket::UNIX->new(Local=>q(socket),Listen=>1)"',
  )
  const code = async (answer: Promise<{ kind: string }>) => {
    const result = (await answer) as { kind: string; code?: string }
    return result.code ?? result.kind
  }
  expect({
    missing: await code(files.read('none', kib)),
    folder: await code(files.read('folder', kib)),
    below: await code(files.read('file/x', kib)),
    large: await code(files.read('large', 2000)),
    fifo: await code(files.read('fifo', kib)),
    fifoWrite: await code(files.write('fifo', Buffer.from('x'))),
    socket: await code(files.read('socket', kib)),
    device: await code(files.read('/dev/zero', kib)),
    loop: await code(files.read('loop', kib)),
    long: await code(files.read('n'.repeat(300), kib)),
    locked: await code(files.read('locked/x', kib)),
    nul: await code(files.read('a\0b', kib)),
    onFolder: await code(files.write('folder', Buffer.from('x'))),
    system: await code(files.write('/usr/bin/evil', Buffer.from('x'))),
    etc: await code(files.write('/etc/passwd', Buffer.from('x'))),
    root: await code(files.write('/evil', Buffer.from('x'))),
    device2: await code(files.write('/dev/null', Buffer.from('x'))),
    listFile: await code(files.list('file', 10)),
    walkNone: await code(files.walk('none', 10)),
  }).toEqual({
    missing: 'not-found',
    folder: 'is-directory',
    below: 'not-a-directory',
    large: 'too-large',
    fifo: 'not-a-file',
    fifoWrite: 'not-a-file',
    socket: 'not-a-file',
    device: 'not-a-file',
    loop: 'loop',
    long: 'name-too-long',
    locked: 'denied',
    nul: 'not-found',
    onFolder: 'is-directory',
    system: 'read-only',
    etc: 'read-only',
    root: 'read-only',
    device2: 'not-a-file',
    listFile: 'not-a-directory',
    walkNone: 'not-found',
  })
  await sh('chmod 700 locked')
})

test('a read-only profile writes neither the workspace nor what is mounted into it, but home and tmp', async () => {
  const mounted = makePlace()
  const { files } = await openFiles(
    place => {
      put(place, 'a', 'x')
      mkdirSync(join(place.workspace, '.git'))
      give(join(place.workspace, '.git'))
    },
    { profile: 'read-only', mounts: [{ source: mounted.workspace, target: '/workspace/.git', mode: 'rw' }] },
  )
  expect([
    await files.write('a', Buffer.from('y')),
    await files.write('.git/config', Buffer.from('y')),
    await files.write('/home/agent/a', Buffer.from('y')),
    await files.write('/tmp/a', Buffer.from('y')),
  ]).toMatchObject([{ code: 'read-only' }, { code: 'read-only' }, { kind: 'written' }, { kind: 'written' }])
})

test('a file above the file size limit, or above what tmp holds, is refused and leaves nothing', async () => {
  const { files, sh } = await openFiles(undefined, { limits: { ...sandboxLimitDefaults, fileBytesMax: 2 * mib, tmpBytesMax: mib } })
  expect([await files.write('big', Buffer.alloc(3 * mib)), await files.write('/tmp/big', Buffer.alloc(1.5 * mib))]).toMatchObject([
    { code: 'too-large' },
    { code: 'no-space' },
  ])
  expect((await sh('ls -A /workspace /tmp')).output).toBe('/tmp:\n\n/workspace:\n')
})

test('search is ripgrep without its configuration, with output and time bounded', async () => {
  const { files } = await openFiles(place => {
    put(place, 'a.txt', 'needle\n'.repeat(1000))
    put(place, '.ripgreprc', '--pre=/bin/false\n')
  })
  const found = await files.search(['--count', 'needle', '.'], kib, 5000)
  const cut = await files.search(['needle', '.'], 100, 5000)
  const none = await files.search(['absent', '.'], kib, 5000)
  expect({
    found: found.kind === 'searched' && [found.exitCode, text(found.stdout)],
    cut: cut.kind === 'searched' && [cut.cut, cut.stdout.byteLength],
    none: none.kind === 'searched' && none.exitCode,
  }).toEqual({ found: [0, './a.txt:1000\n'], cut: [true, 100], none: 1 })
})

test('search never runs another program', async () => {
  const { files, workspace } = await openFiles(place => {
    put(place, 'a.txt', 'x')
    put(place, 'evil', '#!/bin/sh\ntouch /workspace/ran\n', 0o755)
  })
  const attempts = [
    ['--pre', '/workspace/evil', 'x', '.'],
    ['--pre=/workspace/evil', 'x', '.'],
    ['--hostname-bin=/workspace/evil', 'x'],
    ['-z', 'x', '.'],
    ['-inz', 'x', '.'],
    // Here `--` is the pattern of `-e`, so what follows it is an option again.
    ['-e', '--', '--pre=/workspace/evil', '.'],
  ]
  for (const argv of attempts) expect(await files.search(argv, kib, 5000)).toMatchObject({ kind: 'fault', code: 'denied' })
  expect(existsSync(join(workspace, 'ran'))).toBe(false)
})

test('red: ripgrep itself runs what --pre names', () => {
  const place = makePlace()
  put(place, 'a.txt', 'x')
  put(place, 'evil', `#!/bin/sh\ntouch ${place.root}/workspace/ran\n`, 0o755)
  const identity = process.getuid?.() === 0 ? { uid: user.uid, gid: user.gid } : {}
  try {
    execFileSync('/usr/bin/rg', ['-e', '--', `--pre=${place.workspace}/evil`, '.'], { cwd: place.workspace, stdio: 'pipe', ...identity })
  } catch {
    // No match is an exit code of 1.
  }
  expect(existsSync(join(place.workspace, 'ran'))).toBe(true)
})

test('commands can neither see nor signal the file host, and it has no network, no /proc and no environment', async () => {
  const { sandbox, files, sh } = await openFiles()
  await files.list('.', 1)
  expect((await sh('ls /proc | grep -c "^[0-9]"; grep -l file-host /proc/[0-9]*/cmdline 2>/dev/null')).output).not.toContain('file-host')
  expect(await files.list('/proc', 10)).toEqual({ kind: 'listed', entries: [], more: false })
  // The file host itself, seen from outside.
  const pid = fileHostPids().at(-1)
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  expect({
    seccomp: /^Seccomp:\s+2$/m.test(status),
    privileges: /^NoNewPrivs:\s+1$/m.test(status),
    capabilities: /^CapEff:\s+0+$/m.test(status),
    environment: readFileSync(`/proc/${pid}/environ`, 'latin1').replaceAll('\0', ''),
    interfaces: readFileSync(`/proc/${pid}/net/dev`, 'latin1')
      .split('\n')
      .slice(2)
      .map(line => line.split(':')[0]?.trim())
      .filter(Boolean),
  }).toEqual({ seccomp: true, privileges: true, capabilities: true, environment: 'PWD=/', interfaces: ['lo'] })
  await sandbox.close()
})

test('a broken file host is a fault, is started again, and after four times not any more', async () => {
  const { files } = await openFiles(place => put(place, 'a', 'x'))
  const seen: string[] = []
  for (let round = 0; round < 5; round += 1) {
    const before = await files.read('a', kib)
    seen.push(before.kind === 'fault' ? before.code : before.kind)
    if (before.kind === 'fault') break
    const pids = fileHostPids()
    const open = files.search(['--files', '/usr'], mib, 10_000)
    for (const pid of pids) process.kill(pid, 'SIGKILL')
    seen.push((await open).kind)
  }
  expect(seen).toEqual(['read', 'fault', 'read', 'fault', 'read', 'fault', 'read', 'fault', 'broken'])
}, 60_000)

test('a hard link made before the sandbox is the one way a mask by path does not cover: it is counted, see docs', async () => {
  const place = makePlace()
  const secret = join(place.root, 'secret')
  writeFileSync(secret, 'secret')
  linkSync(secret, join(place.workspace, 'link'))
  expect(statSync(join(place.workspace, 'link')).nlink).toBe(2)
  const { files } = await openFiles(() => {}, { workspace: { source: place.workspace, mode: 'rw' }, masked: [secret] })
  expect((await files.read('link', kib)).kind).toBe('read')
})
