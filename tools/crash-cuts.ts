import { cutKinds } from '../test/crash/cut-line.ts'
import type { CutRow, CutStage, PlannedCut, Road } from '../test/crash/run-cuts.ts'
import { wrongUsage } from './usage.ts'

type Cuts = typeof import('../test/crash/run-cuts.ts')

/** `words`: roads, or one road and one cut of it. */
export async function cutAll(words: readonly string[], usage: string): Promise<void> {
  const cuts = await import('../test/crash/run-cuts.ts')
  const [road, request = '', way] = words
  const kind = cutKinds.find(each => each === way)
  const named = kind === undefined ? words : [road]
  const chosen = cuts.roadNames.filter(name => words.length === 0 || named.includes(name))
  if (chosen.length === 0 || named.some(word => !chosen.includes(word as Road))) wrongUsage('that is no road and no cut', usage)
  const rows: CutRow[] = []
  if (kind !== undefined) rows.push(await cutAlone(cuts, chosen[0] as Road, { request, kind }))
  else for (const name of chosen) rows.push(...(await cutRoad(cuts, name)))
  const faults = rows.filter(row => faultsOf(row).length > 0).length
  process.stdout.write(`${rows.length} cuts, ${faults} of them with faults\n`)
  process.exitCode = faults === 0 ? 0 : 1
}

/** Tasks that one stage bears before another is opened. */
const tasksOfStageMax = 25

/** A stage bears many, but for what a process asks only once: that is cut on one of its own. */
async function cutRoad(cuts: Cuts, road: Road): Promise<CutRow[]> {
  let stage = await cuts.openCutStage()
  const rows: CutRow[] = []
  try {
    const [first, clean] = [await cuts.runCut(stage, road, null), await cuts.runCut(stage, road, null)]
    process.stdout.write(`${road}: ${first.requests.length} requests, ${first.faults.length + clean.faults.length} faults without a cut\n`)
    const requests = [...new Set([...first.requests, ...clean.requests])]
    for (const { cut } of cuts.allCuts([{ road, requests }])) {
      if (!clean.requests.includes(cut.request)) {
        rows.push(await cutAlone(cuts, road, cut))
        continue
      }
      stage = await renewed(cuts, stage, rows.at(-1))
      rows.push(print(await cuts.runCut(stage, road, cut)))
    }
  } finally {
    await stage.close()
  }
  return rows
}

async function renewed({ openCutStage }: Cuts, stage: CutStage, last: CutRow | undefined): Promise<CutStage> {
  if (stage.runs < tasksOfStageMax && (last === undefined || faultsOf(last).length === 0)) return stage
  await stage.close()
  return await openCutStage()
}

async function cutAlone({ openCutStage, runCut }: Cuts, road: Road, cut: PlannedCut['cut']): Promise<CutRow> {
  const stage = await openCutStage()
  try {
    return print(await runCut(stage, road, cut))
  } finally {
    await stage.close()
  }
}

function print(row: CutRow): CutRow {
  process.stdout.write(`${row.road.padEnd(5)} ${row.cut?.kind.padEnd(6)} ${row.cut?.request}\n`)
  for (const words of faultsOf(row)) process.stdout.write(`  FAULT ${words}\n`)
  return row
}

function faultsOf({ met, faults }: CutRow): string[] {
  return [...(met ? [] : ['the road does not make this request']), ...faults.map(({ kind, words }) => `${kind}: ${words}`)]
}
