import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { execa } from 'execa'
import * as z from 'zod'
import { buildProgram } from './build/build-program.ts'
import { printedUsage, wrongUsage } from './usage.ts'

/** `./dev attacks [--plays N]`: every attack of test/attacks, N times over. The last line counts plays and failures. */
const usage = [
  'usage: ./dev attacks [--plays N]',
  '  every attack of test/attacks, N times over (1); ends with 1 when an attack worked or could not be played',
].join('\n')
const playsMax = 1_000
const Report = z.object({ numPassedTests: z.number(), numFailedTests: z.number() })

if (!printedUsage(usage)) {
  const root = path.resolve(import.meta.dirname, '..')
  const plays = readPlays()
  const built = await buildProgram(root)
  try {
    let failures = 0
    for (let play = 1; play <= plays; play += 1) failures += await playAll(root, built.program, play)
    process.stdout.write(`${plays} ${plays === 1 ? 'play' : 'plays'}, ${failures} ${failures === 1 ? 'failure' : 'failures'}\n`)
    process.exitCode = failures === 0 ? 0 : 1
  } finally {
    built.remove()
  }
}

function readPlays(): number {
  try {
    const plays = Number(parseArgs({ options: { plays: { type: 'string', default: '1' } } }).values.plays)
    if (Number.isInteger(plays) && plays >= 1 && plays <= playsMax) return plays
    return wrongUsage(`--plays is a number from 1 to ${playsMax}`, usage)
  } catch (error) {
    return wrongUsage((error as Error).message, usage)
  }
}

/** The failures of one play; one that could not be played, or in which nothing was tried, counts as one. */
async function playAll(root: string, program: string, play: number): Promise<number> {
  const folder = mkdtempSync(path.join(tmpdir(), 'grokbot-attacks-'))
  const file = path.join(folder, 'report.json')
  try {
    const run = await execa(
      path.join(root, 'node_modules/.bin/vitest'),
      ['run', 'test/attacks/', '--reporter=dot', '--reporter=json', '--silent=passed-only', `--outputFile=${file}`],
      { cwd: root, reject: false, env: { NO_COLOR: '1', GROKBOT_PROGRAM: program }, stdout: 'inherit', stderr: 'inherit' },
    )
    const { numPassedTests: held, numFailedTests: failed } = Report.parse(JSON.parse(readFileSync(file, 'utf8')))
    process.stdout.write(`play ${play}: ${held} held, ${failed} failed\n`)
    return Math.max(failed, run.exitCode === 0 && held > 0 ? 0 : 1)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
