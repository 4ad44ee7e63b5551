import type { PlannedCut, Road } from '../test/crash/run-cuts.ts'
import { wrongUsage } from './usage.ts'

/** Each cut on a stage of its own, so that the requests that a process makes only once are among them. */
export async function cutAll(words: readonly string[], usage: string): Promise<void> {
  const { allCuts, openCutStage, roadNames, runCut } = await import('../test/crash/run-cuts.ts')
  const { cutKinds } = await import('../test/crash/cut-line.ts')
  async function runAlone(road: Road, cut: PlannedCut['cut'] | null) {
    const stage = await openCutStage()
    try {
      return await runCut(stage, road, cut)
    } finally {
      await stage.close()
    }
  }
  async function planned(): Promise<PlannedCut[]> {
    const chosen = roadNames.filter(road => words.length === 0 || words.includes(road))
    const [request, way] = words.slice(1)
    const kind = cutKinds.find(each => each === way)
    if (request !== undefined && kind !== undefined) return chosen.map(road => ({ road, cut: { request, kind } }))
    if (chosen.length === 0 || words.some(word => !chosen.includes(word as Road))) wrongUsage('that is no road and no cut', usage)
    const clean = []
    for (const road of chosen) clean.push(await runAlone(road, null))
    for (const { road, requests, faults } of clean) process.stdout.write(`${road}: ${requests.length} requests, ${faults.length} faults\n`)
    return allCuts(clean)
  }

  let faults = 0
  const cuts = await planned()
  for (const { road, cut } of cuts) {
    const row = await runAlone(road, cut)
    const found = row.met ? row.faults.map(fault => `${fault.kind}: ${fault.words}`) : ['the road does not make this request']
    faults += found.length
    process.stdout.write(`${road.padEnd(5)} ${cut.kind.padEnd(6)} ${cut.request}\n`)
    for (const words of found) process.stdout.write(`  FAULT ${words}\n`)
  }
  process.stdout.write(`${cuts.length} cuts, ${faults} faults\n`)
  process.exitCode = faults === 0 ? 0 : 1
}
