import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { stampTree } from '../../sandbox/file-host/stamp-tree.ts'
import type { FileHost } from '../../sandbox/index.ts'
import { open } from './open.ts'

const tickMs = 40
const start = 'mkdir -p src .git; printf old > src/a; ln -s a src/link; : > $(printf "odd\\377"); echo one > .git/HEAD'

async function stampOf(files: FileHost): Promise<{ stamp: string; settled: boolean }> {
  const stamp = await files.stamp('/workspace', 100)
  if (stamp.kind !== 'stamped') throw new Error(stamp.message)
  return { stamp: stamp.stamp, settled: stamp.settled }
}

async function openStamped() {
  const { sandbox, sh } = await open({ files: true, poolSize: 1 })
  await sh(start)
  await sleep(tickMs)
  const files = sandbox.files as FileHost
  return { files, sh, before: await stampOf(files) }
}

const changes = {
  'another content': 'echo newer > src/a',
  'another content of the same size with its time put back': 'touch -r src/a /tmp/t; printf new > src/a; touch -r /tmp/t src/a',
  'bytes written in place, dated back':
    'perl -e \'open(F, "+<", "src/a"); sysseek(F, 0, 0); syswrite(F, "neo"); close F\'; touch -d @1 src/a',
  'a mode': 'chmod +x src/a',
  'a name': 'mv src/a src/b',
  'two files that change places': 'printf two > src/b; mv src/a /workspace/t; mv src/b src/a; mv t src/b',
  'an empty folder': 'mkdir empty',
  'a link that leads elsewhere': 'ln -sfn b src/link',
  'a file that is gone': 'rm src/link',
  'a name of odd bytes': 'mv odd* "$(printf "odd\\376")"',
} as const

test.for(Object.entries(changes))('a stamp sees %s', async ([, script]) => {
  const { files, sh, before } = await openStamped()
  expect(before.settled).toBe(true)
  expect((await sh(script)).exitCode).toBe(0)
  const after = await stampOf(files)
  expect(after.stamp).not.toBe(before.stamp)
  await sleep(tickMs)
  expect(await stampOf(files)).toEqual({ stamp: after.stamp, settled: true })
})

test('what was changed within a tick of the clock could be changed again and look the same, so it is not settled', () => {
  const folder = mkdtempSync(join(tmpdir(), 'grokbot-stamp-'))
  writeFileSync(join(folder, 'a'), 'new')
  const { ctimeMs } = statSync(join(folder, 'a'))
  const settledAt = (nowMs: number) => {
    const stamp = stampTree(folder, 10, nowMs)
    return stamp.kind === 'stamped' && stamp.settled
  }
  expect([settledAt(ctimeMs), settledAt(ctimeMs + 19), settledAt(ctimeMs + 21)]).toEqual([false, false, true])
  rmSync(folder, { recursive: true })
})

test('a stamp stays what it is while files are read, the gitdir is written and the temporary folder fills', async () => {
  const { files, sh, before } = await openStamped()
  await sh('cat src/a; ls -la; echo two > .git/HEAD; echo x > /tmp/x; test -w src/a')
  expect(await stampOf(files)).toEqual(before)
})

test('more entries than wanted and a folder that is not there are faults', async () => {
  const { files } = await openStamped()
  expect(await files.stamp('/workspace', 2)).toMatchObject({ kind: 'fault', code: 'too-large' })
  expect(await files.stamp(join('/workspace', 'none'), 2)).toMatchObject({ kind: 'fault', code: 'not-found' })
})
