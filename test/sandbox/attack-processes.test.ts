import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type SandboxLimits, sandboxLimitDefaults } from '../../sandbox/index.ts'
import { bare, startVictim } from './bare.ts'
import { open, text } from './open.ts'
import { marked } from './processes.ts'

const mib = 1024 * 1024
const limits = (change: Partial<SandboxLimits>): SandboxLimits => ({ ...sandboxLimitDefaults, ...change })

test('C09: a daemon outlives its command nowhere: not by setsid, double fork, nohup, a terminal of its own or a closed output', async () => {
  const { sh } = await open()
  const mark = `5${process.pid}1`
  await sh(
    `setsid sleep ${mark} & nohup sleep ${mark} >/dev/null 2>&1 & (setsid bash -c 'exec >/dev/null 2>&1 </dev/null; sleep ${mark} & sleep ${mark}' &)
     perl -MPOSIX -e 'fork and exit; POSIX::setsid(); fork and exit; $SIG{$_} = "IGNORE" for qw(TERM HUP INT); exec "sleep", "${mark}"'
     script -qc "sleep ${mark}" /dev/null >/dev/null 2>&1 & crontab - <<< "* * * * * sleep ${mark}" 2>/dev/null; echo "sleep ${mark}" | at now 2>/dev/null; tmux new -d "sleep ${mark}" 2>/dev/null; sleep 0.3`,
  )
  expect(marked(mark)).toEqual([])
  const later = await sh(`ls /proc | grep -c '^[0-9]'; pgrep -cfx 'sleep ${mark}'; ls /var/spool 2>&1 | grep -c 'No such'`)
  expect(later.output).toMatch(/^[1-9]\n0\n1\n$/)
})

test('C09, red: without a sandbox the daemon is still there', async () => {
  const mark = `5${process.pid}2`
  await bare(['/bin/sh', '-c', `setsid sleep ${mark} > /dev/null 2>&1 &`])
  const left = marked(mark)
  expect(left).toHaveLength(1)
  await bare(['/usr/bin/pkill', '-9', '-f', `^sleep ${mark}`])
})

test('C10: a fork bomb is held by the limit, and the next command runs', async () => {
  const { sh } = await open({ limits: limits({ processesMax: 60 }) })
  const before = performance.now()
  const bomb = await sh(
    'for i in $(seq 300); do sleep 5 & done 2>/tmp/err; jobs -r | wc -l; grep -c "Resource temporarily" /tmp/err',
    20_000,
  )
  expect(performance.now() - before).toBeLessThan(20_000)
  const bombed = await sh(':(){ :|:& };:; sleep 1', 3000)
  expect([Number(bomb.output.split('\n')[0]) < 60 || bomb.exitCode !== 0, bombed.exitCode === 0 || bombed.killedBy !== null]).toEqual([
    true,
    true,
  ])
  expect(await sh('echo alive')).toEqual({ exitCode: 0, killedBy: null, output: 'alive\n' })
}, 60_000)

test('C10, red: without the limit the same forks all succeed', async () => {
  const mark = `5${process.pid}3`
  expect(await bare(['/bin/bash', '-c', `for i in $(seq 120); do sleep ${mark} & done; jobs -r | wc -l; kill -9 $(jobs -p)`])).toMatch(
    /^120\n/,
  )
})

test('C10: memory of one process, and of all together', async () => {
  const { sh } = await open({ limits: limits({ memoryBytes: 300 * mib }) })
  const one = await sh('perl -e \'$x = "a" x (2 * 1024 * 1024 * 1024); print "got it"\' 2>&1')
  expect([one.exitCode === 0, one.output.includes('got it')]).toEqual([false, false])
  const many = await sh('for i in 1 2 3 4 5; do perl -e \'$x = "a" x (120 * 1024 * 1024); sleep 10\' & done; wait; echo survived', 20_000)
  expect(many).toMatchObject({ exitCode: null, killedBy: 'memory' })
}, 60_000)

test('C10: files, disk, inodes and tmp', async () => {
  const { sandbox, sh } = await open({
    limits: limits({ fileBytesMax: 16 * mib, diskBytesMax: 64 * mib, tmpBytesMax: 8 * mib, inodesMax: 3000 }),
  })
  expect((await sh('head -c 40M /dev/zero > big; stat -c %s big; rm big')).output).toMatch(/\b16777216\n$/)
  expect((await sh('head -c 20M /dev/zero > /tmp/big 2>&1; stat -c %s /tmp/big; rm /tmp/big')).output).toMatch(/No space left|8388608/)
  expect((await sh('head -c 200M /dev/zero > /dev/shm/x; stat -c %s /dev/shm/x; rm /dev/shm/x')).output).toMatch(/\b16777216\n$/)
  const disk = await sandbox.run({
    argv: ['bash', '-c', 'for i in $(seq 100); do head -c 10M /dev/zero > f$i; sync f$i; done; sleep 5'],
    wallMs: 60_000,
  })
  expect(disk).toMatchObject({ kind: 'ended', killedBy: 'disk' })
  await sh('rm -f f*')
  const inodes = await sandbox.run({
    argv: ['perl', '-e', 'for (1..400000) { open(my $f, ">", "/tmp/i$_") or last } sleep 20'],
    wallMs: 30_000,
  })
  expect(inodes).toMatchObject({ kind: 'ended', killedBy: 'disk' })
}, 120_000)

test('C10: endless output, open files, processor time and sleep', async () => {
  const { sandbox, sh } = await open({ limits: limits({ outputFileBytesMax: mib, openFilesMax: 64, cpuSeconds: 1, wallMs: 15_000 }) })
  const output = await sandbox.run({ argv: ['yes'] })
  if (output.kind !== 'ended') throw new Error(output.reason)
  expect({
    killedBy: output.killedBy,
    file: readFileSync(output.outputFile).byteLength,
    kept: output.output.byteLength <= 102_400,
  }).toEqual({
    killedBy: 'output',
    file: mib,
    kept: true,
  })
  expect((await sh('perl -e \'for (1..4000) { open($f[$_], "<", "/dev/null") or last; $n = $_ } print $n\'')).output).toMatch(/^[56]\d$/)
  const cpu = await sh('(while :; do :; done) & (while :; do :; done) & wait')
  expect(cpu).toMatchObject({ exitCode: null, killedBy: 'cpu' })
  expect(await sh('sleep 60', 400)).toMatchObject({ killedBy: 'wall' })
  // A wall limit that a caller asks for never exceeds the session's.
  expect(await sandbox.run({ argv: ['sleep', '60'], wallMs: 9_000_000, signal: AbortSignal.timeout(300) })).toMatchObject({
    killedBy: 'cancel',
  })
}, 60_000)

test('C10: another session goes on while one is full', async () => {
  const full = await open({ limits: limits({ processesMax: 50, cpuSeconds: 20 }) })
  const other = await open({ poolSize: 1, files: true })
  const busy = full.sandbox.run({ argv: ['bash', '-c', ':(){ :|:& };:; yes > /dev/null & sleep 4'], wallMs: 4000 })
  const results = []
  for (let index = 0; index < 5; index += 1) results.push((await other.sh(`echo ${index}`)).output)
  await other.sandbox.files?.write('x', Buffer.from('x'))
  expect(results).toEqual(['0\n', '1\n', '2\n', '3\n', '4\n'])
  expect((await busy).kind).toBe('ended')
}, 60_000)

test('Q91: the key of another process is not there: environment, memory, core dump, sudo, socket, metadata', async () => {
  const secret = 'canary-q91-8d7f6a5b'
  const victim = await startVictim(secret)
  try {
    const { sh } = await open()
    const ran = await sh(
      `cat /proc/*/environ /proc/${victim.pid}/environ /proc/1/environ 2>&1; for p in $(ls /proc | grep '^[0-9]'); do strings /proc/$p/mem 2>/dev/null | head -1000; done
       sudo -n cat /proc/${victim.pid}/environ 2>&1; su -c id 2>&1 </dev/null; ulimit -c; kill -QUIT ${victim.pid} 2>&1; gcore ${victim.pid} 2>&1; ls core* /var/crash 2>&1
       curl -s -m 2 http://169.254.169.254/latest/meta-data/ 2>&1; curl -s -m 2 --unix-socket /var/run/docker.sock http://d/info 2>&1; ls /var/run/docker.sock /run/docker.sock /run/containerd 2>&1; ulimit -c unlimited; ulimit -c`,
      20_000,
    )
    expect(ran.output).not.toContain(secret)
    expect(ran.output).not.toMatch(/uid=0|root:|ServerVersion/)
    expect(ran.output.trim().split('\n').at(-1)).toBe('0')
  } finally {
    await victim.stop()
  }
})

test('Q91, red: without a sandbox the same user reads the key and may dump the process', async () => {
  const victim = await startVictim('canary-q91-red')
  expect(await bare(['/bin/sh', '-c', `cat /proc/${victim.pid}/environ; kill -0 ${victim.pid} && echo signalled`])).toMatch(
    /canary-q91-red[\s\S]*signalled/,
  )
  await victim.stop()
})

test('what one session leaves in tmp and home is not there in another', async () => {
  const one = await open()
  await one.sh('echo mine > /tmp/left; echo mine > ~/left; echo mine > /dev/shm/left')
  const other = await open()
  expect(text(Buffer.from((await other.sh('ls -A /tmp ~ /dev/shm')).output))).toBe('/dev/shm:\n\n/home/agent:\n\n/tmp:\n')
})
