import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { type Evidence, readEvidence } from '../../sandbox/evidence.ts'
import { classifyFailure, type FailureFacts } from '../../sandbox/failure-cause.ts'
import { openSandbox, type SandboxOptions, sandboxLimitDefaults, selfTest, sweepOrphans } from '../../sandbox/index.ts'
import { judgeEvidence } from '../../sandbox/judge-evidence.ts'
import type { TreeStep } from '../../sandbox/plan-tree.ts'
import { makePlace, mode, open, sandboxOptions, user } from './open.ts'
import { alive, descendants, type Found, marked } from './processes.ts'

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'grokbot-self-test-'))
  chmodSync(folder, 0o711)
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('the self-test runs every profile with its canaries and leaves nothing behind', async () => {
  const folder = scratch()
  const names = ['workspace', 'devbox', 'read-only', 'strict', 'review']
  const result = await selfTest({
    profiles: names,
    user,
    scratch: folder,
    limits: sandboxLimitDefaults,
    mounts: [],
    masked: [],
    readHost: true,
  })
  expect(result.profiles.map(({ profile, state, canaries }) => [profile, state, Object.values(canaries)])).toEqual(
    names.map(name => [name, 'enforced', Array(6).fill(true)]),
  )
  expect([result.kind, readdirSync(folder)]).toEqual(['passed', []])
}, 60_000)

test('the self-test fails for what confines nothing and for what does not start, and says why', async () => {
  const result = await selfTest({
    profiles: ['off', 'none', 'strict'],
    user,
    scratch: scratch(),
    limits: sandboxLimitDefaults,
    mounts: [{ source: '/no/such', target: '/x', mode: 'ro' }],
    masked: [],
  })
  expect([result.kind, result.profiles.map(({ state, reason }) => [state, reason])]).toEqual([
    'failed',
    [
      ['none', 'the profile off confines nothing'],
      ['none', 'there is no such profile'],
      ['none', 'the mount source /no/such does not exist'],
    ],
  ])
})

const holder = { namespaces: { user: 'user:[1]', mnt: 'mnt:[1]', net: 'net:[1]' } }
const steps: TreeStep[] = [
  { kind: 'bind', source: '/usr', target: '/usr', mode: 'ro' },
  { kind: 'bind', source: '/x', target: '/workspace', mode: 'rw' },
  { kind: 'tmpfs', target: '/tmp', bytes: 1, perms: '1777' },
  { kind: 'mask-file', target: '/usr/secret' },
  { kind: 'mask-folder', target: '/usr/keys', perms: '0000' },
]

function goodEvidence(): Evidence {
  return {
    namespaces: { user: 'user:[2]', mnt: 'mnt:[2]', pid: 'pid:[2]', ipc: 'ipc:[2]', uts: 'uts:[2]', net: 'net:[1]', cgroup: 'cgroup:[2]' },
    seccompFiltered: true,
    noNewPrivileges: true,
    withoutCapabilities: true,
    uid: user.uid,
    mounts: new Map([
      ['/', ['ro', 'nosuid']],
      ['/usr', ['ro', 'nosuid']],
      ['/workspace', ['rw', 'nosuid']],
      ['/workspace/inner', ['rw', 'nosuid']],
      ['/tmp', ['rw', 'nosuid']],
      ['/dev/null', ['rw', 'nosuid']],
      ['/proc', ['rw', 'nosuid']],
      ['/usr/secret', ['ro', 'nosuid']],
      ['/usr/keys', ['ro', 'nosuid']],
    ]),
    limits: new Map([
      ['Max cpu time', 602],
      ['Max file size', 1],
      ['Max data size', 1],
      ['Max processes', 1],
      ['Max open files', 1],
      ['Max core file size', 0],
    ]),
  }
}

const expected = { steps, net: 'private' as const, user, limits: sandboxLimitDefaults, profile: 'workspace' }
const judge = (evidence: Evidence) => judgeEvidence(evidence, holder as Parameters<typeof judgeEvidence>[1], expected).lacking

test.each<[string, (evidence: Evidence) => void, string[]]>([
  ['nothing wrong', () => {}, []],
  ['no filter', evidence => (evidence.seccompFiltered = false), ['seccomp']],
  ['privileges can be gained', evidence => (evidence.noNewPrivileges = false), ['privileges']],
  ['a capability is left', evidence => (evidence.withoutCapabilities = false), ['privileges']],
  ['another uid', evidence => (evidence.uid = 0), ['privileges']],
  ['the user namespace of the holder', evidence => (evidence.namespaces.user = 'user:[1]'), ['privileges']],
  ['a network that is not the session’s', evidence => (evidence.namespaces.net = 'net:[9]'), ['netRestrict']],
  ['a writable root', evidence => evidence.mounts.set('/', ['rw', 'nosuid']), ['fsWrite']],
  ['a writable /usr', evidence => evidence.mounts.set('/usr', ['rw', 'nosuid']), ['fsWrite']],
  ['a mount nobody planned', evidence => evidence.mounts.set('/host', ['rw', 'nosuid']), ['fsWrite']],
  ['a mount that honours set-user bits', evidence => evidence.mounts.set('/workspace', ['rw']), ['fsWrite']],
  ['no /proc of its own', evidence => evidence.mounts.delete('/proc'), ['fsWrite']],
  ['a mask that is not there', evidence => evidence.mounts.delete('/usr/secret'), ['fsReadDeny']],
  ['a mask that can be changed', evidence => evidence.mounts.set('/usr/keys', ['rw', 'nosuid']), ['fsWrite', 'fsReadDeny']],
  ['a limit that is not set', evidence => evidence.limits.delete('Max processes'), ['limits']],
  ['core dumps', evidence => evidence.limits.set('Max core file size', 1), ['limits']],
])('evidence is judged: %s', (_, change, lacking) => {
  const evidence = goodEvidence()
  change(evidence)
  expect(judge(evidence)).toEqual(lacking)
})

test('evidence of an unconfined process lacks everything that it can lack', async () => {
  const child = spawn('/bin/sh', ['-c', 'sleep 60 & wait'], {
    stdio: 'ignore',
    ...(mode === 'slots' ? { uid: user.uid, gid: user.gid } : {}),
  })
  onTestFinished(() => {
    for (const { pid } of [...descendants(child.pid), { pid: child.pid as number }]) process.kill(pid, 'SIGKILL')
  })
  await new Promise(resolve => setTimeout(resolve, 200))
  const evidence = (await readEvidence(child.pid as number)) as Evidence
  expect(judge(evidence)).toEqual([
    'fsWrite',
    'fsReadDeny',
    'netRestrict',
    'pidIsolation',
    'ipcIsolation',
    'privileges',
    'seccomp',
    'limits',
  ])
})

const facts: FailureFacts = { childSeen: false, exit: 1, stderr: '', sysctl: () => null, inContainer: false }
const sysctls = (values: Record<string, string>) => (name: string) => values[name] ?? null

test.each<[Partial<FailureFacts>, string]>([
  [{ sysctl: sysctls({ 'user/max_user_namespaces': '0' }) }, 'userns-limit'],
  [{ sysctl: sysctls({ 'kernel/unprivileged_userns_clone': '0' }) }, 'userns-clone'],
  [
    { sysctl: sysctls({ 'kernel/apparmor_restrict_unprivileged_userns': '1' }), stderr: 'bwrap: setting up uid map: Permission denied' },
    'apparmor',
  ],
  [
    {
      sysctl: sysctls({ 'kernel/apparmor_restrict_unprivileged_userns': '1' }),
      stderr: 'bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted',
    },
    'apparmor',
  ],
  [
    { stderr: 'bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)' },
    'namespaces-exhausted',
  ],
  [
    { stderr: 'bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces.' },
    'container-seccomp',
  ],
  [{ stderr: "bwrap: Can't mount proc on /newroot/proc: Operation not permitted" }, 'proc-masked'],
  [{ stderr: 'bwrap: Failed to make / slave: Operation not permitted' }, 'landlocked'],
  [{ stderr: 'bwrap: setting up uid map: Operation not permitted' }, 'setfcap'],
  [{ stderr: "bwrap: Can't find source path /root/x: Permission denied" }, 'unreachable-path'],
  [{ stderr: "bwrap: Can't mkdir /tree/var/x: Permission denied" }, 'no-mount-point'],
  [{ stderr: 'something new' }, 'unknown'],
])('a failure %j is explained as %s', (change, id) => {
  const cause = classifyFailure({ ...facts, ...change })
  expect([cause.id, cause.cause.length > 10, cause.remedy.length > 10]).toEqual([id, true, true])
})

test('a folder the sandbox user cannot reach is named with the way out', async () => {
  const place = makePlace()
  const closed = join(place.root, 'closed')
  mkdirSync(join(closed, 'tools'), { recursive: true })
  chmodSync(closed, 0o000)
  const sandbox = await openSandbox(
    sandboxOptions(place, { mounts: [{ source: join(closed, 'tools'), target: '/opt/tools', mode: 'ro' }] }),
  )
  chmodSync(closed, 0o700)
  expect(sandbox.unavailable?.reason).toMatch(
    /cannot be reached(: every folder| by the sandbox user; way out: every folder above it must be searchable)/,
  )
  await sandbox.close()
})

test('when the holder dies, a running command is ended by "sandbox" and the next one is unavailable', async () => {
  const { sandbox } = await open()
  const running = sandbox.run({ argv: ['sleep', '60'] })
  await new Promise(resolve => setTimeout(resolve, 300))
  for (const { pid } of descendants()) process.kill(pid, 'SIGKILL')
  expect(await running).toMatchObject({ kind: 'ended', exitCode: null, killedBy: 'sandbox' })
  expect(await sandbox.run({ argv: ['true'] })).toMatchObject({ kind: 'unavailable', reason: expect.stringMatching(/holder has ended/) })
})

const doorOfSandbox = pathToFileURL(join(import.meta.dirname, '../../sandbox/index.ts')).href

/** What a worker does until it is killed: opens a sandbox and starts a command that leaves daemons. */
function workerCode(options: SandboxOptions, mark: string): string {
  const script = `setsid sleep ${mark} & nohup sleep ${mark} & echo started; sleep ${mark}`
  return `
    const { openSandbox } = await import(${JSON.stringify(doorOfSandbox)})
    const sandbox = await openSandbox(${JSON.stringify(options)})
    await sandbox.files.list('.', 1)
    sandbox.run({ argv: ['bash', '-c', ${JSON.stringify(script)}], onOutput: () => process.stdout.write('ready\\n') })`
}

/** die-with-parent takes them; a bwrap killed within its first milliseconds can leave a child, which the sweep takes. */
async function waitForEnd(processes: readonly Found[]): Promise<Found[]> {
  for (let waited = 0; alive(processes).length > 0 && waited < 50; waited += 1) {
    await new Promise(resolve => setTimeout(resolve, 100))
    if (waited === 20) sweepOrphans(user)
  }
  return alive(processes)
}

test('a killed worker process leaves nothing, and what it might leave is swept', async () => {
  const mark = `6${process.pid}1`
  const code = workerCode(sandboxOptions(makePlace(), { poolSize: 2, files: true }), mark)
  const worker = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise(resolve => worker.stdout.once('data', resolve))
  const before = descendants(worker.pid)
  expect(before.length).toBeGreaterThan(8)
  worker.kill('SIGKILL')
  await new Promise(resolve => worker.once('exit', resolve))
  expect([await waitForEnd(before), marked(mark)]).toEqual([[], []])
}, 60_000)

test('a session thread that is terminated takes its sandboxes with it', async () => {
  const mark = `6${process.pid}3`
  const code = workerCode(sandboxOptions(makePlace(), { files: true }), mark)
  const others = new Set(descendants().map(({ pid }) => pid))
  const thread = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`), { stdout: true })
  await new Promise(resolve => thread.stdout.once('data', resolve))
  const before = descendants().filter(({ pid }) => !others.has(pid))
  expect(before.length).toBeGreaterThan(6)
  await thread.terminate()
  expect([await waitForEnd(before), marked(mark)]).toEqual([[], []])
}, 60_000)

test('the sweep ends an orphan of the sandbox user that carries our mark, and nothing else of that user', async () => {
  const mark = `6${process.pid}2`
  const identity = mode === 'slots' ? { uid: user.uid, gid: user.gid } : {}
  const orphaning = spawn(
    '/bin/sh',
    ['-c', `GROKBOT_SANDBOX=$$.1 unshare -U sleep ${mark} & unshare -U sleep ${mark}8 & GROKBOT_SANDBOX=$$.1 sleep ${mark}9 & sleep 0.5`],
    {
      stdio: 'ignore',
      detached: true,
      ...identity,
    },
  )
  await new Promise(resolve => orphaning.once('exit', resolve))
  expect(marked(mark)).toHaveLength(3)
  const swept = sweepOrphans(user)
  await new Promise(resolve => setTimeout(resolve, 200))
  expect([swept.map(({ command }) => command), marked(mark).sort()]).toEqual([['sleep'], [`sleep ${mark}8 `, `sleep ${mark}9 `]])
  spawn('/usr/bin/pkill', ['-9', '-f', `^sleep ${mark}`])
})

test('a sweep by a worker that is pid 1 takes no sandbox that lives, and those of a dead process beside it', async () => {
  const mark = `6${process.pid}4`
  const sweeping = `
    const { openSandbox, sweepOrphans } = await import(${JSON.stringify(doorOfSandbox)})
    const { spawn } = await import('node:child_process')
    const { once } = await import('node:events')
    const options = ${JSON.stringify(sandboxOptions(makePlace(), { poolSize: 1, files: true }))}
    const sandbox = await openSandbox(options)
    await sandbox.files.list('.', 1)
    const running = sandbox.run({ argv: ['sleep', '2'] })
    const dead = ['-c', 'GROKBOT_SANDBOX=$$.1 unshare -U sleep ${mark} & sleep 0.5']
    await once(spawn('/bin/sh', dead, { stdio: 'ignore', uid: options.user.uid, gid: options.user.gid }), 'exit')
    const swept = sweepOrphans(options.user)
    const { exitCode, killedBy } = await running
    const next = await sandbox.run({ argv: ['true'] })
    const files = await sandbox.files.list('.', 1).then(() => 'alive', () => 'dead')
    await sandbox.close()
    console.log(JSON.stringify({ isFirst: process.pid === 1, swept: swept.map(({ command }) => command), exitCode, killedBy, next: next.kind, files }))`
  // Only root makes a pid namespace alone; with a user namespace around it, the engine's programs would belong to nobody.
  const alone = mode === 'slots' ? ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'] : ['env']
  const child = spawn('/usr/bin/env', [...alone, process.execPath, '--input-type=module', '-e', sweeping], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.on('data', (text: Buffer) => (said += text))
  await once(child, 'exit')
  expect(JSON.parse(said)).toEqual({
    isFirst: mode === 'slots',
    swept: ['sleep'],
    exitCode: 0,
    killedBy: null,
    next: 'ended',
    files: 'alive',
  })
}, 60_000)
