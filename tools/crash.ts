import path from 'node:path'
import { allCases, type CrashCase } from '../test/crash/points.ts'
import type { CrashRow } from '../test/crash/run-crash.ts'
import { buildProgram } from './build/build-program.ts'
import { printedUsage, wrongUsage } from './usage.ts'

/**
 * `./dev crash [--all | POINT …] [--distributed] [--list]`: kills a process at every named point and event type, one run each,
 * starts another and prints what was found. The last line counts the faults.
 */
const usage = [
  'usage: ./dev crash [--all | POINT …] [--distributed] [--list]',
  '  kills serve at every named point (--all, and without words), or at those whose name holds one of the words; --list names them',
  '  --distributed: an app and a worker with a Redis, of which the one that passes the point is killed',
].join('\n')
const unknown = process.argv
  .slice(2)
  .find(argument => argument.startsWith('-') && !['--all', '--distributed', '--list', '--help', '-h'].includes(argument))
if (unknown !== undefined) wrongUsage(`${unknown} is not taken`, usage)
const wanted = process.argv.slice(2).filter(argument => !argument.startsWith('--'))
const cases = allCases().filter(({ point }) => wanted.length === 0 || wanted.some(name => point.includes(name)))
const form = process.argv.includes('--distributed') ? 'distributed' : 'serve'
const widths = [34, 11, 8, 6, 8, 5, 9, 8, 7, 8, 9]
const columns = ['point', 'outcome', 'attempts', 'pulls', 'branches', 'eyes', 'comments', 'repeated', 'reasked', 'runs', 'recovery']

if (printedUsage(usage)) {
  // That was all.
} else if (process.argv.includes('--list')) {
  for (const { point } of cases) process.stdout.write(`${point}\n`)
} else {
  const built = await buildProgram(path.resolve(import.meta.dirname, '..'))
  // Read where the stage is loaded, so it is set first.
  process.env['GROKBOT_PROGRAM'] = built.program
  try {
    await killAtAll(await import('../test/crash/run-crash.ts'))
  } finally {
    built.remove()
  }
}

async function killAtAll({ faultsOf, runCrash }: typeof import('../test/crash/run-crash.ts')): Promise<void> {
  print(columns)
  let faults = 0
  const recoveries: number[] = []
  for (const one of cases) {
    const row = await runCrash(one.point, one.scene, form)
    if (row.attempts > 1) recoveries.push(row.recoveryMs)
    const found = faultsOf(row)
    faults += found.length
    report(one, row, found)
  }
  recoveries.sort((one, other) => one - other)
  const at = (share: number) => recoveries[Math.min(recoveries.length - 1, Math.floor(recoveries.length * share))] ?? 0
  process.stdout.write(`recovery, kill to the next attempt, restart of the process included: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms\n`)
  process.stdout.write(`${cases.length} kills, ${faults} faults\n`)
  process.exitCode = faults === 0 ? 0 : 1
}

function report({ point }: CrashCase, row: CrashRow, faults: readonly string[]): void {
  print([
    point,
    row.outcome,
    row.attempts,
    row.pulls,
    row.branches,
    row.eyes,
    row.comments,
    row.repeatedAnswers,
    row.reasked,
    row.repeatedRuns,
    row.attempts > 1 ? `${row.recoveryMs} ms` : '-',
  ])
  for (const fault of faults) process.stdout.write(`  FAULT ${fault} (${row.reason})\n`)
}

function print(cells: readonly (string | number)[]) {
  process.stdout.write(
    `${cells
      .map((cell, index) => String(cell).padEnd(widths[index] ?? 8))
      .join(' ')
      .trimEnd()}\n`,
  )
}
