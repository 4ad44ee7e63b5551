import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { countTests } from '../../worker/count-tests.ts'
import { workerLimits } from '../../worker/limits.ts'

test('a long output that is counted holds neither the thread nor the memory', { timeout: 60_000 }, async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'grokbot-counts-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const outputFile = path.join(folder, 'output')
  const head = 'TAP version 13\n'
  const tests = 3_000_000
  expect(5 * tests).toBeLessThan(workerLimits.countedBytesMax)
  writeFileSync(outputFile, `${head}${'ok 1\n'.repeat(tests)}`)
  let [last, longestMs, memory] = [performance.now(), 0, 0]
  const before = process.memoryUsage().rss
  const timer = setInterval(() => {
    longestMs = Math.max(longestMs, performance.now() - last)
    memory = Math.max(memory, process.memoryUsage().rss - before)
    last = performance.now()
  }, 5)
  const counts = await countTests({ output: Buffer.from(head), outputBytes: head.length + 5 * tests, outputFile })
  longestMs = Math.max(longestMs, performance.now() - last)
  clearInterval(timer)
  expect([counts, longestMs < 500, memory < 300 * 1024 ** 2], `${longestMs} ms, ${memory} bytes`).toEqual([
    { passed: tests, failed: 0, skipped: 0 },
    true,
    true,
  ])
})
