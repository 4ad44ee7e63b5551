import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { FileHost } from '../../sandbox/index.ts'
import { bare, startVictim } from './bare.ts'
import { give, makePlace, mode, open, type Place, text, user } from './open.ts'

const kib = 1024
const secret = 'canary-3f9a61c2d4'

/** A folder beside the workspace that the sandbox user could read and write, were it not in a sandbox. */
function makeOutside(place: Place): string {
  const outside = join(place.root, 'other-worktree')
  mkdirSync(outside, { mode: 0o777 })
  chmodSync(outside, 0o777)
  writeFileSync(join(outside, 'secret'), secret, { mode: 0o666 })
  chmodSync(join(outside, 'secret'), 0o666)
  give(outside)
  return outside
}

function plantLinks(place: Place, outside: string): void {
  for (const [name, target] of [
    ['a', '/etc'],
    ['b', '../other-worktree'],
    ['c', '/proc/1/root'],
    ['d', outside],
    ['e', '/proc/self/root/proc/1/cwd'],
  ] as const) {
    symlinkSync(target, join(place.workspace, name))
  }
}

/** Everything the outside folder holds, to be compared before and after. */
function treeOf(folder: string): Record<string, string> {
  return Object.fromEntries(readdirSync(folder).map(name => [name, readFileSync(join(folder, name), 'utf8')]))
}

test('C04: symlinks that leave the workspace lead nowhere, by the file host and by the shell', async () => {
  const place = makePlace()
  const outside = makeOutside(place)
  plantLinks(place, outside)
  const before = treeOf(outside)
  const { sandbox, sh } = await open({ files: true }, place)
  const files = sandbox.files as FileHost
  const answers: unknown[] = []
  for (const path of [
    'a/shadow',
    'a/npmrc',
    'a/gitconfig',
    'b/secret',
    'c/root/.bashrc',
    `c${outside}/secret`,
    'd/secret',
    `e${outside}/secret`,
  ]) {
    answers.push(
      await files.read(path, kib),
      await files.read(`/workspace/./${path}`, kib),
      await files.read(`../..${outside}/secret`, kib),
    )
  }
  for (const path of ['b/planted', 'd/planted', `c${outside}/planted`, 'a/cron.d/planted'])
    answers.push(await files.write(path, Buffer.from('x')))
  for (const path of ['b', 'd', `c${outside}`]) answers.push(await files.list(path, 10), await files.walk(path, 10))
  const found = await files.search(
    ['--follow', '--no-ignore', '--hidden', secret, '/workspace', '/etc', '/home', '/run', '/var', '/tmp', '/dev/shm', '/proc'],
    64 * kib,
    20_000,
  )
  const shell = await sh(
    `cat a/shadow b/secret d/secret c${outside}/secret e${outside}/secret /proc/1/root${outside}/secret; cp -rL b d /tmp; echo planted > b/x; echo planted > d/x; grep -rs ${secret} /workspace/ /etc /home /run /var /tmp; true`,
    20_000,
  )
  const reached = answers.filter(answer => (answer as { kind: string }).kind !== 'fault')
  expect({
    reached,
    search: found.kind === 'searched' && text(found.stdout).includes(secret),
    shell: shell.output.includes(secret),
    outside: treeOf(outside),
  }).toEqual({ reached: [], search: false, shell: false, outside: before })
})

test('C04, red: the same links read and write outside without a sandbox', async () => {
  const place = makePlace()
  const outside = makeOutside(place)
  plantLinks(place, outside)
  const read = await bare(['/bin/sh', '-c', 'cat b/secret d/secret; echo planted > d/x'], { cwd: place.workspace })
  expect([read.split(secret).length - 1, existsSync(join(outside, 'x'))]).toEqual([2, true])
})

test('C05: a folder that is swapped for a symlink 2,000 times under the file host’s writes never leads outside', async () => {
  const place = makePlace()
  const outside = makeOutside(place)
  const { sandbox } = await open({ files: true }, place)
  const files = sandbox.files as FileHost
  const swapper = sandbox.run({
    argv: [
      'perl',
      '-e',
      `mkdir "/workspace/d"; mkdir "/workspace/real"; symlink "${outside}", "/workspace/link"; my $end = time + 60;
       until (-e "/workspace/stop" || time > $end) {
         rename "/workspace/d", "/workspace/real2"; rename "/workspace/link", "/workspace/d";
         rename "/workspace/d", "/workspace/link"; rename "/workspace/real2", "/workspace/d"; $n++ } print "$n\\n"`,
    ],
    wallMs: 90_000,
  })
  const kinds = new Set<string>()
  for (let index = 0; index < 2000; index += 1) {
    const answer = index % 2 ? await files.write('d/file', Buffer.from(`${index}`)) : await files.read('d/secret', kib)
    kinds.add(answer.kind === 'fault' ? answer.code : answer.kind)
  }
  await files.write('/workspace/stop', Buffer.from(''))
  const swapped = await swapper
  expect(swapped.kind === 'ended' && Number(text(swapped.output))).toBeGreaterThan(100)
  expect(kinds.has('read')).toBe(false)
  expect(kinds.has('written')).toBe(true)
  expect(treeOf(outside)).toEqual({ secret })
}, 120_000)

test('C05, red: a host that checks a path and then opens it writes outside when the swap falls between', () => {
  const place = makePlace()
  const outside = makeOutside(place)
  const inside = join(place.workspace, 'd')
  mkdirSync(inside)
  const checked = join(inside, 'file')
  expect(checked.startsWith(place.workspace)).toBe(true)
  renameSync(inside, join(place.workspace, 'real'))
  symlinkSync(outside, inside)
  writeFileSync(checked, 'planted')
  expect(existsSync(join(outside, 'file'))).toBe(true)
})

test('B01: no environment of the host is readable, by any spelling, from the shell or the file host', async () => {
  process.env.GROKBOT_TEST_CANARY = secret
  const victim = await startVictim(secret)
  try {
    const { sandbox, sh } = await open({ files: true })
    const files = sandbox.files as FileHost
    const numbers = [victim.pid, process.pid, process.ppid, 1]
    const shell = await sh(
      `env; set; export -p; cat /proc/*/environ /proc/*/task/*/environ /proc/self/environ; ${numbers.map(pid => `cat /proc/${pid}/environ /proc/${pid}/cmdline; strings /proc/${pid}/mem`).join('; ')}; cat /proc/keys; ls -la /proc/*/fd /proc/*/cwd; true`,
    )
    expect(shell.output).not.toContain(secret)
    expect(shell.output).not.toContain(secret.slice(7))
    const answers = []
    for (const path of ['/proc/self/environ', ...numbers.map(pid => `/proc/${pid}/environ`), '/proc/self/mem', '/dev/fd/0']) {
      answers.push((await files.read(path, kib)).kind)
    }
    expect(new Set(answers)).toEqual(new Set(['fault']))
  } finally {
    await victim.stop()
    delete process.env.GROKBOT_TEST_CANARY
  }
})

test('B01, red: without a sandbox another process of the same user gives its environment away', async () => {
  const victim = await startVictim(secret)
  expect(await bare(['/bin/cat', `/proc/${victim.pid}/environ`])).toContain(secret)
  await victim.stop()
})

test('B05: deleting everything deletes the workspace, home and tmp, and nothing else', async () => {
  const place = makePlace()
  const outside = makeOutside(place)
  writeFileSync(join(place.workspace, 'mine'), 'x')
  give(join(place.workspace, 'mine'))
  const { sh } = await open({}, place)
  const ran = await sh(
    `rm -rf ~ /work /data .. ${outside} ../other-worktree /proc/1/root${outside} 2>/dev/null; timeout 3 rm -rf --no-preserve-root / 2>/dev/null; find / -xdev -delete 2>/dev/null; mv /workspace /x 2>/dev/null; mount 2>/dev/null | grep -c .; ls -A /workspace /home/agent; ls /usr/bin | wc -l`,
    30_000,
  )
  expect(ran.exitCode).toBe(0)
  expect(Number(ran.output.trim().split('\n').at(-1))).toBeGreaterThan(100)
  expect([treeOf(outside), readdirSync(place.workspace), existsSync(place.workspace)]).toEqual([{ secret }, [], true])
})

test('B05, red: without a sandbox the same command deletes the neighbour', async () => {
  const place = makePlace()
  const outside = makeOutside(place)
  await bare(['/bin/sh', '-c', `rm -rf ${outside}/* ../other-worktree/*`], { cwd: place.workspace })
  expect(readdirSync(outside)).toEqual([])
})

test('the mount points cannot be moved or replaced, so what is mounted read-only stays where it is', async () => {
  const place = makePlace()
  const gitdir = join(place.root, 'gitdir')
  mkdirSync(gitdir)
  writeFileSync(join(gitdir, 'HEAD'), 'ref: x\n')
  mkdirSync(join(place.workspace, '.git'))
  give(join(place.workspace, '.git'))
  const { sh } = await open({ mounts: [{ source: gitdir, target: '/workspace/.git', mode: 'ro' }] }, place)
  const ran = await sh(
    'mv .git old; rm -rf .git; rmdir .git; mkdir -p .git/hooks; echo x > .git/config; ln -sfn /tmp .git; mv /workspace/.git/HEAD /tmp; cat .git/HEAD',
  )
  expect(ran.output.split('\n').at(-2)).toBe('ref: x')
  expect([readdirSync(gitdir), readdirSync(place.workspace)]).toEqual([['HEAD'], ['.git']])
})

test(`mode ${mode}: another session sees nothing of this one, and in slots another uid could read none of it even without a sandbox`, async () => {
  const one = await open()
  await one.sh(`echo ${secret} > /workspace/mine; echo ${secret} > ~/mine; chmod 777 /workspace/mine ~/mine`)
  const other = await open()
  const way = one.root.split('/').slice(1, 2)[0]
  expect(
    (
      await other.sh(
        `ls -A ${one.root} ${one.workspace} ${one.runDir} 2>&1 | grep -vc 'No such'; grep -rs ${secret} /workspace ~ /${way}; true`,
      )
    ).output,
  ).toBe('0\n')
  if (mode === 'single') return
  const stranger = { uid: user.uid + 1, gid: user.gid + 1 }
  const read = spawnSync('/bin/sh', ['-c', `cat ${one.workspace}/mine ${one.runDir}/home/mine ${one.runDir}/*/output/* 2>&1`], {
    ...stranger,
    encoding: 'utf8',
  })
  expect(read.stdout).not.toContain(secret)
  expect(read.stdout).toContain('Permission denied')
})
