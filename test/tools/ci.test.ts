import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { execa } from 'execa'
import { expect, onTestFinished, test } from 'vitest'

/** The suites that touch the host run once more as an unprivileged user, where there is one to change to. */
const runs = process.getuid?.() === 0 ? 2 : 1

/** The real script beside a `dev` that ends as it is told to. */
async function lastLine(check: number, tests: string, code: number): Promise<[string | undefined, number | undefined]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'grokbot-run-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  chmodSync(folder, 0o755)
  mkdirSync(path.join(folder, '.ci'))
  cpSync(path.join(import.meta.dirname, '../../.ci/run'), path.join(folder, '.ci/run'))
  const dev = `#!/usr/bin/env bash\nif [ "$1" = check ]; then exit ${check}; fi\necho '${tests}'\nexit ${code}\n`
  writeFileSync(path.join(folder, 'dev'), dev, { mode: 0o755 })
  const { stdout, exitCode } = await execa(path.join(folder, '.ci/run'), { reject: false })
  return [stdout.split('\n').at(-1), exitCode]
}

test.each([
  ['nothing fails', 0, '7 passed, 0 failed, 1 skipped', 0, [7, 0, 1], 0],
  ['tests fail: they are counted, and nothing beside them', 0, '5 passed, 2 failed, 0 skipped', 1, [5, 2, 0], 1],
  ['tests and a check fail', 1, '5 passed, 2 failed, 0 skipped', 1, [5, 2, 0], 1],
])('the last line of .ci/run when %s', { timeout: 30_000 }, async (_, check, tests, code, [passed = 0, failed = 0, skipped = 0], exit) => {
  const counted = `${passed * runs} passed, ${failed * runs} failed, ${skipped * runs} skipped`
  expect(await lastLine(check, tests, code)).toEqual([counted, exit])
})

test.each([
  ['a check', 1, 0],
  ['a suite, for another reason than a test,', 0, 1],
])('the last line of .ci/run does not look like a success when only %s fails', { timeout: 30_000 }, async (_, check, code) => {
  const counted = `${7 * runs} passed, 1 failed, 0 skipped`
  expect(await lastLine(check, '7 passed, 0 failed, 0 skipped', code)).toEqual([counted, 1])
})
