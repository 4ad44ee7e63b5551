import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { execa } from 'execa'
import * as z from 'zod'
import { buildProgram } from './build/build-program.ts'
import { printedUsage } from './usage.ts'

/**
 * `./dev test [--all | suite[/file] …]`: runs the suites (folders of test/), prints the seconds of each against its line in
 * test/budget.json, and ends with `N passed, N failed, N skipped`.
 */
const usage = [
  'usage: ./dev test [--all | SUITE[/FILE] …]',
  '  a suite is a folder of test/, a file the beginning of its name; without one all of them, and of the long files of test/long.json',
  '  those whose turn it is at this commit; --all runs them all',
].join('\n')
if (printedUsage(usage)) process.exit(0)
const Report = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      startTime: z.number(),
      endTime: z.number(),
      status: z.string(),
      message: z.string().optional(),
      assertionResults: z.array(z.object({ status: z.string(), fullName: z.string() })),
    }),
  ),
})
const root = path.resolve(import.meta.dirname, '..')
const Budget = z.record(z.string(), z.number())
const budget = Budget.parse(JSON.parse(readFileSync(path.join(root, 'test/budget.json'), 'utf8')))
// As they are said, and as a shell completes them.
const suites = process.argv
  .slice(2)
  .filter(name => !name.startsWith('-'))
  .map(name => name.replace(/^test\//, ''))
/** Long files with about how many seconds each takes alone. */
const longFiles = z.record(z.string(), z.number()).parse(JSON.parse(readFileSync(path.join(root, 'test/long.json'), 'utf8')))
/** They take turns: each commit runs some of them, of about the same length together, and none is left out for long. */
const turns = 5
const turn = Number.parseInt((await execa('git', ['rev-parse', 'HEAD'], { cwd: root, reject: false })).stdout.slice(0, 4), 16) % turns
/** Whoever names a suite wants all of it. */
const left = suites.length > 0 || process.argv.includes('--all') ? [] : filesOfOtherTurns(turn || 0)
if (left.length > 0) process.stdout.write(`not at their turn with this commit (./dev test --all): ${left.join(', ')}\n`)

const folder = mkdtempSync(path.join(tmpdir(), 'grokbot-test-'))
const file = path.join(folder, 'report.json')
const built = await buildProgram(root)
const filters = suites.map(suite => (suite.includes('/') ? `test/${suite}` : `test/${suite}/`))
const run = await execa(
  path.join(root, 'node_modules/.bin/vitest'),
  [
    'run',
    ...filters,
    ...left.map(file => `--exclude=test/${file}`),
    '--reporter=dot',
    '--reporter=json',
    '--silent=passed-only',
    `--outputFile=${file}`,
  ],
  {
    cwd: root,
    reject: false,
    env: { NO_COLOR: '1', GROKBOT_PROGRAM: built.program },
    stdout: ['pipe', 'inherit'],
    stderr: ['pipe', 'inherit'],
  },
)
const report = Report.parse(JSON.parse(readFileSync(file, 'utf8')))
rmSync(folder, { recursive: true, force: true })
built.remove()

function filesOfOtherTurns(mine: number): string[] {
  const sums = Array.from({ length: turns }, () => 0)
  const longest = Object.entries(longFiles).sort(([, one], [, other]) => other - one)
  return longest.flatMap(([file, seconds]) => {
    const least = sums.indexOf(Math.min(...sums))
    sums[least] = (sums[least] ?? 0) + seconds
    return least === mine ? [] : [file]
  })
}

/** As `maxWorkers` in vitest.config.ts: a suite's seconds are its share of the whole run's, so that the lines add up. */
const filesAtOnce = 2
/** Files run two at a time, and a machine is sometimes busy: only what is far over its line fails. */
const loadedMachineFactor = 1.5
const seconds = new Map<string, number>()
const counts = { passed: 0, failed: 0, skipped: 0 }
for (const result of report.testResults) {
  const suite = path.relative(path.join(root, 'test'), result.name).split(path.sep)[0] ?? ''
  seconds.set(suite, (seconds.get(suite) ?? 0) + (result.endTime - result.startTime) / 1000 / filesAtOnce)
  for (const { status } of result.assertionResults) counts[status === 'passed' || status === 'failed' ? status : 'skipped'] += 1
  // A file that could not be loaded has no test that failed; it must not count as nothing.
  if (result.status === 'failed' && result.assertionResults.every(test => test.status !== 'failed')) counts.failed += 1
}
let over = false
for (const [suite, spent] of [...seconds].sort(([one], [other]) => one.localeCompare(other))) {
  const allowed = budget[suite]
  const late = allowed === undefined || spent > allowed * loadedMachineFactor
  over ||= late
  process.stdout.write(
    `${suite.padEnd(12)} ${spent.toFixed(1).padStart(7)} s of ${allowed ?? 'no line in test/budget.json'}${late ? '  OVER' : ''}\n`,
  )
}
if (over) process.stdout.write('a suite took longer than its line in test/budget.json\n')
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`)
process.exitCode = run.exitCode !== 0 || counts.failed > 0 || counts.passed === 0 || over ? 1 : 0
