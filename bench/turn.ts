import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { firstRequest, fold, memory, ownTime, type Row, recovery, start, wholeRun, window200 } from './turn-rows.ts'
import { openStage } from './turn-stage.ts'

/**
 * What one turn and one run cost: the built program with its sandbox on, and the bare loop of `bench/floor.ts`, in turns in
 * one run, against the same model in this process. `./dev bench turn [--rounds 3] [--only start,memory]`
 */
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '3' }, only: { type: 'string' } } })
const rounds = Number(values.rounds)
const measures = { start, 'own-time': ownTime, whole: wholeRun, window: window200, memory, 'first-request': firstRequest, recovery, fold }
const chosen = values.only?.split(',') ?? Object.keys(measures)

const stage = await openStage()
try {
  process.stdout.write(`${line(['what', 'floor', 'median', 'best', 'reach', '', 'load'])}\n`)
  for (const [name, measure] of Object.entries(measures)) {
    if (!chosen.includes(name)) continue
    for (const row of await measure(stage, rounds)) process.stdout.write(`${render(row)}\n`)
  }
} finally {
  await stage.close()
}

function render({ what, unit, floor, value, best, reach }: Row): string {
  const show = (figure: number | null) => (figure === null ? '-' : `${round(figure)} ${unit}`)
  const verdict = reach === null ? '' : value <= reach ? 'reached' : 'missed'
  return line([
    what,
    show(floor),
    show(value),
    show(best),
    reach === null ? '' : `≤ ${reach} ${unit}`,
    verdict,
    loadavg()[0]?.toFixed(1) ?? '',
  ])
}

function line(cells: readonly string[]): string {
  const widths = [58, 12, 12, 12, 14, 8, 5]
  return cells
    .map((cell, index) => (index === 0 ? cell.padEnd(widths[0] as number) : cell.padStart(widths[index] as number)))
    .join(' ')
    .trimEnd()
}

function round(figure: number): string {
  return figure >= 100 ? figure.toFixed(0) : figure.toFixed(2)
}
