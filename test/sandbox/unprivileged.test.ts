import { spawnSync } from 'node:child_process'
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { mode } from './open.ts'

/**
 * The tests whose controls depend on who starts the sandbox, once more in the other mode: as a plain user, whose sandboxes
 * run as that user itself. Nothing may be skipped there. (`.ci/run` does the same with the whole folder.) When the tests
 * already run as a plain user there is no other mode to try.
 */
const files = ['attack-kernel', 'profiles', 'self-test']

const plainUser = 61_177

test(`mode ${mode}: it all holds as a plain user too, with nothing skipped`, () => {
  if (mode === 'single') {
    expect(process.getuid?.()).not.toBe(0)
    return
  }
  const folder = mkdtempSync(join(tmpdir(), 'grokbot-plain-'))
  const [home, report] = [join(folder, 'home'), join(folder, 'home', 'report.json')]
  mkdirSync(home, { mode: 0o700 })
  for (const path of [folder, home]) chownSync(path, plainUser, plainUser)
  const root = join(import.meta.dirname, '..', '..')
  const ran = spawnSync(
    process.execPath,
    [
      ...[join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--configLoader=native'],
      ...files.map(name => `test/sandbox/${name}.test.ts`),
      ...['--reporter=json', `--outputFile=${report}`, '--root', root],
    ],
    {
      cwd: root,
      uid: plainUser,
      gid: plainUser,
      env: { PATH: `${join(process.execPath, '..')}:/usr/bin:/bin`, HOME: home, TMPDIR: folder },
      encoding: 'utf8',
      timeout: 600_000,
    },
  )
  const result = JSON.parse(readFileSync(report, 'utf8')) as Report
  const notPassed = result.testResults.flatMap(file =>
    file.assertionResults
      .filter(({ status }) => status !== 'passed')
      .map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages.join('\n').slice(0, 1500)}`),
  )
  rmSync(folder, { recursive: true, force: true })
  expect({ notPassed, failed: result.numFailedTests, skipped: result.numPendingTests, exit: ran.status }).toEqual({
    notPassed: [],
    failed: 0,
    skipped: 0,
    exit: 0,
  })
  expect(result.numPassedTests).toBeGreaterThan(70)
}, 620_000)

type Report = {
  numPassedTests: number
  numFailedTests: number
  numPendingTests: number
  testResults: { assertionResults: { fullName: string; status: string; failureMessages: string[] }[] }[]
}
