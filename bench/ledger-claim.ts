import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ledger } from '../ledger/index.ts'
import { openSqliteLedger } from '../ledger/index.ts'
import { claimOptions, taskOf } from '../test/ledger/samples.ts'

/** One claim with 10,000 tasks waiting, in process mode: without the sync, which is the same for every write. */
const tasks = 10_000
const claims = 200
const reachMs = 5

type Scene = { name: string; tenants: number; laneOf(index: number): string; busy: readonly string[] }
const scenes: readonly Scene[] = [
  { name: '50 tenants, a lane each task', tenants: 50, laneOf: index => `lane ${index}`, busy: [] },
  { name: '50 tenants, 4 lanes each', tenants: 50, laneOf: index => `lane ${index % 200}`, busy: [] },
  { name: '5,000 tenants', tenants: 5_000, laneOf: index => `lane ${index}`, busy: [] },
  {
    name: '50 tenants, every lane busy',
    tenants: 50,
    laneOf: index => `lane ${index % 50}`,
    busy: range(50).map(index => `lane ${index}`),
  },
]

const results: Record<string, { medianMs: number; p95Ms: number; figuresMs: number; aheadMs: number }> = {}
for (const scene of scenes) results[scene.name] = await measureScene(scene)
const lines = Object.entries(results).map(
  ([name, { medianMs, p95Ms, figuresMs, aheadMs }]) =>
    `  ${name}: median ${medianMs} ms, p95 ${p95Ms} ms; queue figures ${figuresMs} ms; runs ahead ${aheadMs} ms`,
)
process.stdout.write(
  `a claim with ${tasks} tasks waiting, of ${claims}, reach ${reachMs} ms\n${lines.join('\n')}\n${JSON.stringify(results)}\n`,
)

async function measureScene({ tenants, laneOf, busy }: Scene) {
  const dataDir = mkdtempSync(join(tmpdir(), 'grokbot-bench-'))
  const ledger = openSqliteLedger({ dataDir, durability: 'process', clock: Date.now })
  try {
    for (const [index, laneKey] of busy.entries()) await accept(ledger, `b${index}`, `i${index % tenants}`, laneKey)
    for (const _ of busy) await ledger.claimNext(claimOptions())
    for (let index = 0; index < tasks; index += 1) await accept(ledger, `t${index}`, `i${index % tenants}`, laneOf(index))
    const times = await measureEach(claims, () => ledger.claimNext(claimOptions()))
    return {
      medianMs: quantile(times, 0.5),
      p95Ms: quantile(times, 0.95),
      figuresMs: quantile(await measureEach(9, () => ledger.queueFigures()), 0.5),
      aheadMs: quantile(await measureEach(9, () => ledger.runsAhead(`t${tasks - 1}`)), 0.5),
    }
  } finally {
    await ledger.close()
    rmSync(dataDir, { recursive: true })
  }
}

async function accept(ledger: Ledger, taskId: string, tenantKey: string, laneKey: string): Promise<void> {
  await ledger.acceptTask(taskOf(taskId, { tenantKey, laneKey }))
}

function range(length: number): number[] {
  return Array.from({ length }, (_, index) => index)
}

async function measureEach(rounds: number, work: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const startedAt = performance.now()
    await work()
    times.push(performance.now() - startedAt)
  }
  return times
}

function quantile(times: readonly number[], share: number): number {
  return Number(([...times].sort((a, b) => a - b)[Math.floor(times.length * share)] ?? 0).toFixed(2))
}
