import path from 'node:path'
import { allCases, allKills, type PlannedKill } from '../test/crash/points.ts'
import type { CrashRow } from '../test/crash/run-crash.ts'
import { buildProgram } from './build/build-program.ts'
import { cutAll } from './crash-cuts.ts'
import { printedUsage, wrongUsage } from './usage.ts'

/**
 * `./dev crash`: kills a process at every named point and event type, one run each, lets another go on and prints what was
 * found; with `--cuts`, cuts one outgoing request each. The last line counts the faults.
 */
const usage = [
  'usage: ./dev crash [--all | POINT …] [--distributed] [--takeover] [--list]',
  '       ./dev crash --cuts [fix | ask | pull …] [REQUEST KIND]',
  '  kills serve at every named point, or at those whose name holds one of the words; --list names them',
  '  --distributed: an app and a worker with a Redis, of which the one that passes the point is killed',
  '  --takeover: nothing is started again; another one, which runs already, goes on',
  '  --all: every point in every way, or in all those that one of the two words above allows',
  '  --cuts: every outgoing request of one task of each road is cut, one run each: before it arrives, after it was done, in the',
  '  middle of its answer; or one request, as it was printed, in one of the ways before, after and half',
].join('\n')
const flags = ['--all', '--distributed', '--takeover', '--list', '--cuts', '--help', '-h']
const unknown = process.argv.slice(2).find(argument => argument.startsWith('-') && !flags.includes(argument))
if (unknown !== undefined) wrongUsage(`${unknown} is not taken`, usage)
const words = process.argv.slice(2).filter(argument => !argument.startsWith('-'))
const kills = plannedKills()
const widths = [34, 12, 9, 11, 8, 6, 8, 5, 9, 8, 9]
const columns = ['point', 'form', 'goes on', 'outcome', 'attempts', 'pulls', 'branches', 'eyes', 'comments', 'reasked', 'recovery']

if (printedUsage(usage)) {
  // That was all.
} else if (process.argv.includes('--list')) {
  for (const { point } of kills) process.stdout.write(`${point}\n`)
} else {
  const built = await buildProgram(path.resolve(import.meta.dirname, '..'))
  // Read where the stage is loaded, so it is set first.
  process.env['GROKBOT_PROGRAM'] = built.program
  try {
    if (process.argv.includes('--cuts')) await cutAll(words, usage)
    else await killAtAll(await import('../test/crash/run-crash.ts'))
  } finally {
    built.remove()
  }
}

function plannedKills(): PlannedKill[] {
  const cases = allCases().filter(({ point }) => words.length === 0 || words.some(word => point.includes(word)))
  const [isDistributed, isTakeover, isAll] = ['--distributed', '--takeover', '--all'].map(flag => process.argv.includes(flag))
  const way = { form: isDistributed ? 'distributed' : 'serve', succession: isTakeover ? 'takeover' : 'restart' } as const
  if (!isAll) return allKills(cases, way)
  return allKills(cases, { ...(isDistributed ? { form: way.form } : {}), ...(isTakeover ? { succession: way.succession } : {}) })
}

async function killAtAll({ faultsOf, runCrash }: typeof import('../test/crash/run-crash.ts')): Promise<void> {
  print(columns)
  let faults = 0
  const recoveries: number[] = []
  for (const kill of kills) {
    const row = await runCrash(kill.point, kill.scene, kill.way)
    if (row.attempts > 1) recoveries.push(row.recoveryMs)
    const found = faultsOf(row)
    faults += found.length
    report(kill, row, found)
  }
  recoveries.sort((one, other) => one - other)
  const at = (share: number) => recoveries[Math.min(recoveries.length - 1, Math.floor(recoveries.length * share))] ?? 0
  process.stdout.write(`recovery, kill to the next attempt, restart of the process included: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms\n`)
  process.stdout.write(`${kills.length} kills, ${faults} faults\n`)
  process.exitCode = faults === 0 && kills.length > 0 ? 0 : 1
}

function report({ point, way }: PlannedKill, row: CrashRow, faults: readonly string[]): void {
  const { outcome, attempts, pulls, branches, eyes, comments, reasked, recoveryMs } = row
  const recovery = attempts > 1 ? `${recoveryMs} ms` : '-'
  print([point, way.form, way.succession, outcome, attempts, pulls, branches, eyes, comments, reasked, recovery])
  for (const fault of faults) process.stdout.write(`  FAULT ${fault} (${row.reason})\n`)
}

function print(cells: readonly (string | number)[]) {
  const padded = cells.map((cell, index) => String(cell).padEnd(widths[index] ?? 8))
  process.stdout.write(`${padded.join(' ').trimEnd()}\n`)
}
