import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bare } from './bare.ts'
import { give, makePlace, open } from './open.ts'

/** Attack C12: privileges, devices and kernel surfaces, tried by a program written for it. */
let built = ''

beforeAll(() => {
  built = mkdtempSync(join(tmpdir(), 'grokbot-probe-'))
  chmodSync(built, 0o755)
  execFileSync('cc', ['-O1', '-o', join(built, 'probe'), join(import.meta.dirname, 'probe.c')])
  chmodSync(join(built, 'probe'), 0o755)
})

afterAll(() => rmSync(built, { recursive: true, force: true }))

/** What gets through without a sandbox, as an unprivileged user on a current kernel: the red half. */
const openWithoutSandbox = [
  ...['unshare-user', 'mount-in-userns', 'clone-user', 'clone3-user', 'ptrace', 'process-vm-readv'],
  ...['setuid-chmod', 'setuid-create', 'setgid-folder', 'generic-netlink'],
]

const x86 = process.arch === 'x64'

const refused: Record<string, string[]> = {
  'unshare-user': ['EPERM'],
  'mount-in-userns': ['EPERM'],
  'clone-user': ['EPERM'],
  'clone3-user': ['ENOSYS'],
  mount: ['EPERM'],
  umount: ['EPERM'],
  remount: ['EPERM'],
  chroot: ['EPERM'],
  setns: ['EPERM', 'EACCES'],
  ptrace: ['EPERM'],
  'process-vm-readv': ['EPERM'],
  'setuid-chmod': ['EPERM'],
  'setuid-create': ['EPERM'],
  'setgid-folder': ['EPERM'],
  'setuid-fchmodat2': ['ENOSYS'],
  'block-device': ['EPERM'],
  'char-device': ['EPERM'],
  'core-pattern': ['EACCES'],
  sysrq: ['EACCES', 'ENOENT'],
  'release-agent': ['EACCES', 'ENOENT'],
  vsock: ['EAFNOSUPPORT'],
  packet: ['EAFNOSUPPORT'],
  alg: ['EAFNOSUPPORT'],
  'generic-netlink': ['EAFNOSUPPORT'],
  'raw-inet': ['EPROTONOSUPPORT'],
  'io-uring': ['ENOSYS'],
  bpf: ['EPERM'],
  perf: ['EPERM'],
  userfaultfd: ['EPERM'],
  keyctl: ['EPERM'],
  'open-by-handle': ['EPERM'],
  kexec: ['EPERM'],
  tiocsti: ['EPERM'],
  'controlling-tty': ['ENXIO'],
  kvm: ['ENOENT'],
  'host-disk': ['ENOENT'],
  // The filter kills what it cannot judge by number.
  ...(x86 ? { x32: ['KILLED'], i386: ['KILLED'] } : {}),
}

function outcomes(output: string): Record<string, string> {
  return Object.fromEntries(
    output
      .trim()
      .split('\n')
      .map(line => line.split(' ') as [string, string]),
  )
}

test.each(['workspace', 'read-only', 'strict', 'review', 'devbox'])('C12: every probe is refused in the profile %s', async profile => {
  const place = makePlace()
  const { sh } = await open({ profile }, withProbeFolder(place))
  const seen = outcomes((await sh('cd /tmp && /workspace/probe')).output)
  const wrong = Object.entries(refused).filter(([name, allowed]) => !allowed.includes(seen[name] ?? 'not tried'))
  expect(wrong.map(([name]) => `${name} ${seen[name]}`)).toEqual([])
  expect(Object.keys(seen).sort()).toEqual(Object.keys(refused).sort())
})

test('C12, red: without a sandbox the same program gets through', async () => {
  const place = makePlace()
  const seen = outcomes(await bare([join(built, 'probe')], { cwd: place.workspace }))
  expect(openWithoutSandbox.filter(name => seen[name] !== 'OPEN')).toEqual([])
  expect(statSync(join(place.workspace, 'setuid-file')).mode & 0o7777).toBe(0o4755)
})

test('C12: no file with privileges is left in the workspace, and nothing mounted could give them', async () => {
  const place = withProbeFolder(makePlace())
  const { sh } = await open({}, place)
  await sh('./probe; cp /bin/sh shell; chmod u+s shell; chmod 6755 shell; install -m 4755 /bin/sh other; tar --version >/dev/null')
  const privileged = readdirSync(place.workspace).filter(name => (statSync(join(place.workspace, name)).mode & 0o6000) !== 0)
  const mounts = (await sh('cut -d" " -f5,6 /proc/self/mountinfo')).output.trim().split('\n')
  expect({ privileged, withoutNosuid: mounts.filter(line => !line.split(' ')[1]?.split(',').includes('nosuid')) }).toEqual({
    privileged: [],
    withoutNosuid: [],
  })
})

test('C12: the kernel’s switches are read-only and the machine’s devices are not there', async () => {
  const { sh } = await open()
  const { output } = await sh(
    'ls /dev | tr "\\n" " "; for f in kernel/core_pattern vm/drop_caches kernel/hostname; do (: > /proc/sys/$f) 2>/dev/null && echo wrote $f; done; ls /sys 2>&1 | head -1',
  )
  expect(output).toBe(
    "core fd full null ptmx pts random shm stderr stdin stdout tty urandom zero ls: cannot access '/sys': No such file or directory\n",
  )
})

function withProbeFolder(place: ReturnType<typeof makePlace>): ReturnType<typeof makePlace> {
  const target = join(place.workspace, 'probe')
  copyFileSync(join(built, 'probe'), target)
  give(target)
  mkdirSync(join(place.workspace, 'folder'))
  give(join(place.workspace, 'folder'))
  return place
}
