import { createHash } from 'node:crypto'
import { readFileSync, rmSync, statSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { agentEnvironment } from '../../sandbox/environment.ts'
import { openSandbox, type Sandbox, sandboxLimitDefaults } from '../../sandbox/index.ts'
import { makeSharedPlace, open, sandboxOptions, sh, text } from './open.ts'
import { alive, descendants, marked } from './processes.ts'

const mib = 1024 * 1024

/** For the cases that leave nothing: each command has a fresh sandbox anyway. */
let shared: Sandbox
const place = makeSharedPlace()

beforeAll(async () => {
  shared = await openSandbox(sandboxOptions(place, { poolSize: 2 }))
})

afterAll(async () => {
  await shared.close()
  rmSync(place.root, { recursive: true, force: true })
})

test.each([
  ['exit 0', { exitCode: 0, killedBy: null, output: '' }],
  ['exit 7', { exitCode: 7, killedBy: null, output: '' }],
  ['exit 255', { exitCode: 255, killedBy: null, output: '' }],
  ['kill -TERM $$', { exitCode: 143, killedBy: null, output: '' }],
  ['kill -9 $$', { exitCode: 137, killedBy: null, output: '' }],
  ['exec 1>&- 2>&-; exit 3', { exitCode: 3, killedBy: null, output: '' }],
  ['echo out; echo err >&2; echo out', { exitCode: 0, killedBy: null, output: 'out\nerr\nout\n' }],
  ['echo a > /dev/stdout; echo b | tee /dev/stderr', { exitCode: 0, killedBy: null, output: 'a\nb\nb\n' }],
  ['cat; echo $?', { exitCode: 0, killedBy: null, output: '0\n' }],
  ['ls /proc/self/fd | tr "\\n" " "', { exitCode: 0, killedBy: null, output: '0 1 2 3 ' }],
  ['pwd; echo $0 $#', { exitCode: 0, killedBy: null, output: '/workspace\nbash 0\n' }],
  ['kill -9 1; kill -9 -1 2>/dev/null; echo alive', { exitCode: 0, killedBy: null, output: 'alive\n' }],
])('runs %j', async (script, expected) => {
  expect(await sh(shared, script)).toEqual(expected)
})

test('a command that is not there ends with 127, as in a shell', async () => {
  expect(await shared.run({ argv: ['no-such-program', 'x'] })).toMatchObject({ kind: 'ended', exitCode: 127, killedBy: null })
})

test('arguments, variables, folder and standard input arrive byte for byte', async () => {
  const { sandbox } = await open()
  const odd = `a'b"c\\d$e\`f\n\tg*ü😀 -- `
  await sandbox.run({ argv: ['mkdir', '-p', "/workspace/x' y"] })
  const result = await sandbox.run({
    argv: ['bash', '-c', 'printf "%s|%s|%s|%s|" "$1" "$ODD" "$PWD" "$0"; cat', 'zero', odd],
    cwd: "/workspace/x' y",
    env: { ODD: odd },
    stdin: Buffer.from([0, 255, 10]),
  })
  expect(result.kind === 'ended' && Buffer.from(result.output)).toEqual(
    Buffer.concat([Buffer.from(`${odd}|${odd}|/workspace/x' y|zero|`), Buffer.from([0, 255, 10])]),
  )
})

test('the environment is exactly the frozen one', async () => {
  process.env.GROKBOT_TEST_SECRET = 'must not arrive'
  const { sh } = await open()
  const seen = (await sh('env -0 | sort -z | tr "\\0" "\\n"')).output.trim().split('\n')
  expect(seen.filter(line => !/^(PWD|SHLVL|_)=/.test(line))).toEqual(
    Object.entries(agentEnvironment)
      .map(([name, value]) => `${name}=${value}`)
      .sort(),
  )
  expect(agentEnvironment).toEqual({
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    HOME: '/home/agent',
    USER: 'agent',
    LOGNAME: 'agent',
    SHELL: '/bin/bash',
    TMPDIR: '/tmp',
    LANG: 'C.UTF-8',
    TERM: 'dumb',
  })
})

test.each([
  ['a NUL byte', { argv: ['bash', '-c', 'echo a\0b'] }, /NUL/],
  ['no command', { argv: [] }, /empty/],
  ['an argument above the kernel’s bound', { argv: ['echo', 'x'.repeat(200_000)] }, /longer than 131071 bytes/],
  ['a script above 8 MiB', { argv: ['bash', '-c', ' '.repeat(9 * mib)] }, /script is longer/],
  ['a folder that does not exist', { argv: ['true'], cwd: '/workspace/none' }, /does not exist/],
  ['a folder with dots', { argv: ['true'], cwd: '/workspace/../etc' }, /plain absolute path/],
  ['a variable with a bad name', { argv: ['true'], env: { 'A=B': 'x' } }, /cannot be set/],
])('refuses %s', async (_, command, reason) => {
  const result = await shared.run(command)
  expect(result).toEqual({ kind: 'refused', reason: expect.stringMatching(reason) })
})

test('a script above 128 KiB runs, from a file, with its own arguments', async () => {
  const { sandbox } = await open()
  const script = `${'# padding\n'.repeat(20_000)}echo "$0 $1 $#"`
  const result = await sandbox.run({ argv: ['bash', '-c', script, 'zero', 'one'] })
  expect(result.kind === 'ended' && { code: result.exitCode, output: text(result.output) }).toEqual({ code: 0, output: 'zero one 1\n' })
})

test('the wall limit kills the whole tree, also what ignores TERM and made a session of its own', async () => {
  const { sandbox } = await open()
  const mark = `4${process.pid}1`
  const script = `trap '' TERM; for i in $(seq 30); do setsid sleep ${mark} & nohup sleep ${mark} & done; wait`
  const result = await sandbox.run({ argv: ['bash', '-c', script], wallMs: 500 })
  expect(result).toMatchObject({ kind: 'ended', exitCode: null, killedBy: 'wall' })
  expect(result.kind === 'ended' && result.durationMs).toBeLessThan(3000)
  expect(marked(mark)).toEqual([])
})

test('background processes end with the command and do not delay its result, even when they hold its output', async () => {
  const { sh } = await open()
  const mark = `4${process.pid}2`
  const before = performance.now()
  expect(await sh(`(sleep ${mark}) & setsid sleep ${mark} & (setsid sh -c 'sleep ${mark}' &) ; echo done`)).toEqual({
    exitCode: 0,
    killedBy: null,
    output: 'done\n',
  })
  expect(performance.now() - before).toBeLessThan(3000)
  expect(marked(mark)).toEqual([])
})

test('a cancelled command ends at once, and one cancelled before it began does not run', async () => {
  const { sandbox } = await open()
  const controller = new AbortController()
  const running = sandbox.run({ argv: ['sleep', '60'], signal: controller.signal })
  setTimeout(() => controller.abort(), 200)
  expect(await running).toMatchObject({ kind: 'ended', exitCode: null, killedBy: 'cancel' })
  expect(await sandbox.run({ argv: ['sh', '-c', 'sleep 5'], signal: AbortSignal.abort() })).toMatchObject({ killedBy: 'cancel' })
})

test('output is cut in the middle, hashed whole and kept whole in the file', async () => {
  const { sandbox } = await open({ limits: { ...sandboxLimitDefaults, outputBytesMax: 4096 } })
  const whole = Array.from({ length: 20_000 }, (_, index) => `${index + 1}\n`).join('')
  const result = await sandbox.run({ argv: ['seq', '20000'] })
  if (result.kind !== 'ended') throw new Error(result.reason)
  const output = text(result.output)
  expect({
    bytes: result.outputBytes,
    hash: result.outputHash,
    file: readFileSync(result.outputFile, 'utf8') === whole,
    mode: statSync(result.outputFile).mode & 0o777,
    head: whole.startsWith(output.slice(0, 1500)),
    tail: whole.endsWith(output.slice(-1500)),
    marked: /\n\[\.\.\. \d+ bytes left out \.\.\.\]\n/.test(output),
    fits: result.output.byteLength <= 4096,
  }).toEqual({
    bytes: whole.length,
    hash: createHash('sha256').update(whole).digest('hex'),
    file: true,
    mode: 0o600,
    head: true,
    tail: true,
    marked: true,
    fits: true,
  })
})

test('chunks arrive while the command runs', async () => {
  const { sandbox } = await open()
  const seen: [string, number][] = []
  const startedAt = performance.now()
  await sandbox.run({
    argv: ['bash', '-c', 'echo one; sleep 0.5; echo two'],
    onOutput: chunk => seen.push([text(chunk), performance.now() - startedAt]),
  })
  expect(seen.map(([chunk]) => chunk)).toEqual(['one\n', 'two\n'])
  expect((seen[1]?.[1] ?? 0) - (seen[0]?.[1] ?? 0)).toBeGreaterThan(300)
})

test('commands of one session run side by side and share home, tmp and loopback', async () => {
  const { sandbox, sh } = await open({ poolSize: 2 })
  await sh('echo home > ~/x; echo tmp > /tmp/x')
  expect((await sh('cat ~/x /tmp/x')).output).toBe('home\ntmp\n')
  const server = sandbox.run({
    argv: [
      'perl',
      '-MIO::Socket::INET',
      '-e',
      '$s=IO::Socket::INET->new(LocalAddr=>"127.0.0.1:8123",Listen=>1)or die;$c=$s->accept;print $c "hello"',
    ],
    wallMs: 10_000,
  })
  const client = await sh(
    'for i in $(seq 50); do if exec 3<>/dev/tcp/127.0.0.1/8123; then cat <&3; exit; fi 2>/dev/null; sleep 0.1; done',
    8000,
  )
  expect([client.output, (await server).kind]).toEqual(['hello', 'ended'])
})

test('a pool keeps sandboxes parked, and nothing of the session is left when it is closed', async () => {
  const others = new Set(descendants().map(({ pid }) => pid))
  const { sandbox, sh } = await open({ poolSize: 3, files: true })
  for (let index = 0; index < 10; index += 1) expect((await sh(`echo ${index}`)).output).toBe(`${index}\n`)
  await sandbox.files?.list('.', 1)
  const before = descendants().filter(({ pid }) => !others.has(pid))
  expect(before.length).toBeGreaterThan(8)
  await sandbox.close()
  await sandbox.close()
  expect(alive(before).map(({ command }) => command)).toEqual([])
  expect(await sandbox.run({ argv: ['true'] })).toEqual({ kind: 'unavailable', reason: 'the sandbox is closed', missing: [] })
})

test('closing ends running commands', async () => {
  const { sandbox } = await open()
  const running = sandbox.run({ argv: ['sleep', '60'] })
  await new Promise(resolve => setTimeout(resolve, 200))
  await sandbox.close()
  expect(await running).toMatchObject({ kind: 'ended', killedBy: 'cancel' })
})
