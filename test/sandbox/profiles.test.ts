import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { describeProfile, openSandbox, profiles, type SandboxOptions, sandboxLimitDefaults } from '../../sandbox/index.ts'
import { bare } from './bare.ts'
import { give, makePlace, mode, open, sandboxOptions, user } from './open.ts'

test('the profiles are these, and what each gives is frozen', () => {
  const rows = profiles.map(({ name, reads, workspaceWritable, hostWritable, networks }) => [
    name,
    reads,
    workspaceWritable,
    hostWritable,
    networks.join(' '),
  ])
  expect(rows).toEqual([
    ['workspace', 'runtime', true, false, 'none proxy host'],
    ['devbox', 'host', true, true, 'none proxy host'],
    ['read-only', 'runtime', false, false, 'none'],
    ['strict', 'runtime', true, false, 'none proxy'],
    ['review', 'runtime', false, false, 'none'],
    ['off', 'host', true, false, 'none proxy host'],
  ])
  expect([describeProfile('Strict'), describeProfile('none'), describeProfile('')]).toEqual([null, null, null])
})

/** Host files the user may read, were they visible: each is shown readable without a sandbox first. */
const hostFiles = ['/etc/shells', '/var/lib/dpkg/status', '/usr/bin/env']

test.each([
  ['workspace', false, ['/usr/bin/env']],
  ['workspace', true, ['/usr/bin/env', '/etc/debian_version', '/var/lib/dpkg/status']],
  ['read-only', false, ['/usr/bin/env']],
  ['strict', true, ['/usr/bin/env']],
  ['devbox', false, ['/usr/bin/env', '/etc/debian_version', '/var/lib/dpkg/status']],
])('profile %s with readHost %s reads %j of the host', async (profile, readHost, readable) => {
  const place = makePlace()
  const { sh } = await open({ profile, readHost }, place)
  const paths = [
    '/usr/bin/env',
    '/etc/npmrc',
    '/etc/gitconfig',
    '/etc/resolv.conf',
    '/etc/shadow',
    '/var/lib/dpkg/status',
    '/root',
    '/home/nobody-else',
    `${place.root}/run`,
  ]
  const { output } = await sh(
    `for f in ${paths.join(' ')}; do if [ -d $f ]; then ls $f; else cat $f; fi >/dev/null 2>&1 && echo $f; done; true`,
  )
  const seen = output.trim().split('\n')
  const always = readable.filter(path => path !== '/etc/debian_version')
  expect(seen.filter(path => !path.startsWith('/etc/'))).toEqual(always)
  if (!readable.includes('/etc/debian_version')) expect(seen.filter(path => path.startsWith('/etc/'))).toEqual([])
  for (const path of ['/etc/shadow', '/etc/npmrc', '/etc/gitconfig']) expect(seen).not.toContain(path)
})

test('red: without a sandbox these host files are readable', async () => {
  expect(await bare(['/bin/sh', '-c', `for f in ${hostFiles.join(' ')}; do cat $f > /dev/null && echo $f; done`])).toBe(
    `${hostFiles.join('\n')}\n`,
  )
})

test.each([
  ['workspace', ['/workspace', '/home/agent', '/tmp', '/dev/shm']],
  ['read-only', ['/home/agent', '/tmp', '/dev/shm']],
  ['strict', ['/workspace', '/home/agent', '/tmp', '/dev/shm']],
  ['review', ['/home/agent', '/tmp', '/dev/shm']],
])('profile %s writes to %j and to nothing else', async (profile, writable) => {
  const { sh } = await open({ profile })
  const { output } = await sh(
    "for d in $(find / -xdev -maxdepth 2 -type d 2>/dev/null; awk '{print $5}' /proc/self/mountinfo); do (: > $d/.probe) 2>/dev/null && rm $d/.probe && echo $d; done | sort -u",
  )
  // /var/tmp is a link to /tmp, and the terminal devices take no files.
  expect(
    output
      .trim()
      .split('\n')
      .filter(path => !path.startsWith('/proc')),
  ).toEqual([...writable].sort())
})

test.each(['workspace', 'devbox'])('masked folders, files and sockets stay invisible in %s with the whole host readable', async profile => {
  const place = makePlace()
  // Under /var/lib so that it is visible: /tmp is the session's own. Needs a place the tests may write.
  const shown = join(place.root, 'shown')
  mkdirSync(join(shown, 'data', 'keys'), { recursive: true })
  writeFileSync(join(shown, 'data', 'keys', 'app.pem'), 'secret-key')
  writeFileSync(join(shown, 'token'), 'secret-token')
  writeFileSync(join(shown, 'free'), 'free')
  symlinkSync('data', join(shown, 'alias'))
  const server = createServer(socket => socket.end('answered'))
  await new Promise<void>(resolve => server.listen(join(shown, 'docker.sock'), resolve))
  chmodSync(join(shown, 'docker.sock'), 0o777)
  onTestFinished(() => void server.close())
  const { sh, sandbox } = await open(
    {
      profile,
      readHost: true,
      mounts: [{ source: shown, target: '/shown', mode: 'ro' }],
      masked: [join(shown, 'alias'), join(shown, 'token')],
    },
    place,
  )
  const { output } = await sh(
    `cat /shown/free; cat /shown/data/keys/app.pem /shown/alias/keys/app.pem /shown/token /proc/self/root/shown/token /proc/1/root/shown/data/keys/app.pem 2>&1 | grep -c denied; ls /shown/data 2>&1 | grep -o denied; chmod 777 /shown/data /shown/token 2>&1 | grep -c Read-only; perl -MIO::Socket::UNIX -e 'print IO::Socket::UNIX->new("/shown/docker.sock") ? "connected" : "refused: $!"'`,
  )
  expect(output).toBe('free5\ndenied\n2\nrefused: Permission denied')
  expect(sandbox.report.missing).toEqual(['memoryTotal: per-process'])
})

test('red: the same socket answers through a bubblewrap sandbox that is only read-only and without network', async () => {
  const place = makePlace()
  const server = createServer(socket => socket.end('answered'))
  await new Promise<void>(resolve => server.listen(join(place.root, 'docker.sock'), resolve))
  chmodSync(join(place.root, 'docker.sock'), 0o777)
  onTestFinished(() => void server.close())
  const plain = [
    '/usr/bin/bwrap',
    '--unshare-all',
    '--ro-bind',
    '/',
    '/',
    '--dev',
    '/dev',
    '--',
    '/usr/bin/perl',
    '-MIO::Socket::UNIX',
    '-e',
  ] as const
  expect(await bare([...plain, `print IO::Socket::UNIX->new("${place.root}/docker.sock")->getline`])).toBe('answered')
})

test('review denies files that hold credentials by convention; a symlink of that name is not followed by the mask', async () => {
  const place = makePlace()
  for (const name of ['.env', '.npmrc', 'readme']) {
    writeFileSync(join(place.workspace, name), 'content')
    give(join(place.workspace, name))
  }
  mkdirSync(join(place.workspace, '.aws'))
  give(join(place.workspace, '.aws'))
  symlinkSync('/usr/bin', join(place.workspace, '.ssh'))
  const { sh } = await open({ profile: 'review' }, place)
  expect((await sh('for f in .env .npmrc readme; do cat $f; done 2>&1; ls .aws 2>&1; ls .ssh/env')).output).toBe(
    "cat: .env: Permission denied\ncat: .npmrc: Permission denied\ncontentls: cannot open directory '.aws': Permission denied\n.ssh/env\n",
  )
})

const unusable: [string, (options: SandboxOptions) => Partial<SandboxOptions>, RegExp][] = [
  ['an unknown profile', () => ({ profile: 'Workspace' }), /no sandbox profile named "Workspace"/],
  ['network in strict', () => ({ profile: 'strict', network: { kind: 'host' } }), /strict has no network "host"/],
  ['network in review', () => ({ profile: 'review', network: { kind: 'proxy', allow: [] } }), /review has no network "proxy"/],
  ['root as the user', () => ({ user: { uid: 0, gid: 0 } }), /must not be started as root/],
  ['a mount that does not exist', () => ({ mounts: [{ source: '/no/such', target: '/x', mode: 'ro' }] }), /does not exist/],
  ['a mount over /proc', () => ({ mounts: [{ source: '/usr', target: '/proc/x', mode: 'ro' }] }), /nothing may be mounted at/],
  [
    'a mount on our own folder',
    () => ({ mounts: [{ source: '/usr', target: '/run/grokbot/inbox/x', mode: 'ro' }] }),
    /nothing may be mounted at/,
  ],
  ['a mount in place of /tmp', () => ({ mounts: [{ source: '/usr', target: '/tmp', mode: 'rw' }] }), /nothing may be mounted at \/tmp/],
  ['a mount in place of everything', () => ({ mounts: [{ source: '/usr', target: '/', mode: 'ro' }] }), /nothing may be mounted at/],
  ['a target with dots', () => ({ mounts: [{ source: '/usr', target: '/x/../etc', mode: 'ro' }] }), /plain absolute paths/],
  ['a target that is not there', () => ({ mounts: [{ source: '/usr', target: '/workspace/none', mode: 'ro' }] }), /does not exist/],
  [
    'an allow-list entry that can never match',
    () => ({ network: { kind: 'proxy', allow: [{ host: 'A.example', port: 443 }] } }),
    /can never match/,
  ],
  [
    'a masked path that would appear later',
    options => ({
      mounts: [{ source: `${options.runDir}/..`.replace('/run/..', ''), target: '/all', mode: 'ro' }],
      masked: [`${options.runDir}-later`],
    }),
    /must stay invisible but does not exist/,
  ],
]

test.each(unusable)('%s makes the sandbox unavailable, with a reason, and nothing is run', async (_, change, reason) => {
  const place = makePlace()
  const options = sandboxOptions(place)
  const sandbox = await openSandbox({ ...options, ...change(options) })
  expect(sandbox.unavailable?.reason).toMatch(reason)
  expect(await sandbox.run({ argv: ['touch', '/workspace/ran'] })).toMatchObject({
    kind: 'unavailable',
    reason: expect.stringMatching(reason),
  })
  await sandbox.close()
})

test('a symlink planted as a mount point is refused, and one as a mount source too', async () => {
  const place = makePlace()
  symlinkSync('/usr', join(place.workspace, '.git'))
  const options = sandboxOptions(place)
  const planted = await openSandbox({ ...options, mounts: [{ source: place.runDir, target: '/workspace/.git', mode: 'rw' }] })
  const source = await openSandbox({ ...options, mounts: [{ source: join(place.workspace, '.git'), target: '/x', mode: 'ro' }] })
  expect([planted.unavailable?.reason, source.unavailable?.reason]).toEqual([
    expect.stringMatching(/is a symlink/),
    expect.stringMatching(/is a symlink/),
  ])
})

test('the profile off runs without a sandbox, and says so', async () => {
  const place = makePlace()
  const { sandbox, sh } = await open({ profile: 'off', files: true }, place)
  const ran = await sh('pwd; id -u; echo x > made; ulimit -c')
  expect({ report: sandbox.report, output: ran.output }).toEqual({
    report: { engine: 'none', state: 'none', profile: 'off', missing: ['everything'] },
    output: `${place.workspace}\n${user.uid}\n0\n`,
  })
  expect(await sandbox.files?.read('made', 10)).toMatchObject({ kind: 'read', content: Buffer.from('x\n') })
  const killed = await sandbox.run({ argv: ['sh', '-c', 'sleep 60'], wallMs: 300 })
  expect(killed).toMatchObject({ kind: 'ended', killedBy: 'wall', exitCode: null })
})

test('toolchains mounted read-only are usable, and their folder can lie in a masked home', async () => {
  const place = makePlace()
  const homes = join(place.root, 'homes')
  mkdirSync(join(homes, 'tool', 'bin'), { recursive: true })
  writeFileSync(join(homes, 'private'), 'private')
  writeFileSync(join(homes, 'tool', 'bin', 'greet'), '#!/bin/sh\necho hello\n', { mode: 0o755 })
  const { sandbox } = await open(
    { masked: [homes], mounts: [{ source: join(homes, 'tool'), target: join(homes, 'tool'), mode: 'ro' }] },
    place,
  )
  const result = await sandbox.run({ argv: ['greet'], env: { PATH: `${homes}/tool/bin:/usr/bin:/bin` } })
  expect(result.kind === 'ended' && Buffer.from(result.output).toString()).toBe('hello\n')
})

test(`mode ${mode}: the user inside is the session's own on the host, never root`, async () => {
  const { sh } = await open({ limits: sandboxLimitDefaults })
  expect(
    (
      await sh(
        'id -u; awk \'{print $1, $3}\' /proc/self/uid_map; cat /proc/self/status | grep -E "^(CapEff|CapBnd|NoNewPrivs|Seccomp):" | tr "\\t" " "',
      )
    ).output,
  ).toBe('1000\n1000 1\nCapEff: 0000000000000000\nCapBnd: 0000000000000000\nNoNewPrivs: 1\nSeccomp: 2\n')
})
