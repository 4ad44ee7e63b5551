import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { openSqliteLedger } from '../ledger/index.ts'
import { type Kind, readText, type Seen, type Stage, type Who } from './turn-stage.ts'

/** One printed line. `reach` is the figure of the design; null where there is none. */
export type Row = { what: string; unit: string; floor: number | null; value: number; best: number | null; reach: number | null }

/** The turns of a run in which code is still being compiled. */
const warmTurns = 5

export async function start(stage: Stage, rounds: number): Promise<Row[]> {
  const { floor, program, thread } = await takeTurns(stage, rounds, ['floor', 'program', 'thread'], 'file', 1, 0)
  const of = (seen: readonly Seen[]) => seen.map(({ startMs }) => startMs)
  return [
    row('start to first request, one-session process', 'ms', of(floor), of(program), 150),
    row('start to first request, session in a worker thread', 'ms', of(floor), of(thread), 170),
  ]
}

export async function ownTime(stage: Stage, rounds: number): Promise<Row[]> {
  const rows: Row[] = []
  for (const [kind, latencyMs, reach] of [
    ['file', 0, 3],
    ['file', 200, 3],
    ['command', 200, 5],
    ['command', 0, 9],
  ] as const) {
    const { floor, program } = await takeTurns(stage, rounds, ['floor', 'program'], kind, 20, latencyMs)
    const of = (seen: readonly Seen[]) => seen.map(({ gaps }) => median(gaps.slice(warmTurns)))
    rows.push(row(`own time per turn, ${kind}, model ${latencyMs} ms`, 'ms', of(floor), of(program), reach))
  }
  return rows
}

export async function wholeRun(stage: Stage, rounds: number): Promise<Row[]> {
  const rows: Row[] = []
  for (const [kind, reach] of [
    ['file', 350],
    ['command', 500],
  ] as const) {
    const { floor, program } = await takeTurns(stage, rounds, ['floor', 'program'], kind, 20, 0)
    const of = (seen: readonly Seen[]) => seen.map(({ wallMs }) => wallMs)
    rows.push(row(`20 turns, whole process, ${kind}`, 'ms', of(floor), of(program), reach))
    const inside = (seen: readonly Seen[]) => seen.map(({ gaps }) => gaps.reduce((sum, gap) => sum + gap, 0))
    rows.push(row(`  of it between first and last request`, 'ms', inside(floor), inside(program), null))
  }
  return rows
}

export async function window200(stage: Stage, rounds: number): Promise<Row[]> {
  const { floor, program } = await takeTurns(stage, rounds, ['floor', 'program'], 'file', 200, 0)
  const of = (seen: readonly Seen[]) =>
    seen.map(({ gaps }) => {
      // As in bench/session-prefix.ts: the first window begins behind the turns in which code is compiled.
      const warm = gaps.slice(10)
      return median(warm.slice(-40)) / median(warm.slice(0, 40))
    })
  return [row('200 turns, file: last 40 against first 40', '×', of(floor), of(program), 1.1)]
}

export async function memory(stage: Stage, rounds: number): Promise<Row[]> {
  const rows: Row[] = []
  for (const kind of ['file', 'command'] as const) {
    const { floor, program } = await takeTurns(stage, rounds, ['floor', 'program'], kind, 20, 50, true)
    const of = (seen: readonly Seen[], field: 'pssMb' | 'rssMb') => seen.map(({ peak }) => peak[field])
    rows.push(row(`peak memory of the tree, 20 turns, ${kind}, PSS`, 'MB', of(floor, 'pssMb'), of(program, 'pssMb'), 90))
    rows.push(row('  the same as RSS', 'MB', of(floor, 'rssMb'), of(program, 'rssMb'), null))
  }
  return rows
}

export async function firstRequest(stage: Stage): Promise<Row[]> {
  const { firstBody, connections } = await stage.run({ who: 'program', kind: 'file', turns: 20 })
  const kilobytes = (bytes: number) => bytes / 1024
  return [
    { ...single('first request: system prompt and tools', 'KB', kilobytes(firstBody.system + firstBody.tools)), reach: 12 },
    single('  the whole body', 'KB', kilobytes(firstBody.bytes)),
    { ...single('connections to the model in 20 turns', '', connections), reach: 1 },
  ]
}

/** Killed while the model thinks at its tenth turn; then the same task goes on in a new process. */
export async function recovery(stage: Stage, rounds: number): Promise<Row[]> {
  const times: number[] = []
  let repeated = 0
  for (let round = 0; round < rounds; round += 1) {
    const { watched } = stage
    watched.clear()
    watched.model.set({ latencyMs: 100 })
    stage.script('command', 20)
    const first = stage.spawnProgram(['/grok fix what the task says'])
    await watched.reached(10)
    first.kill('SIGKILL')
    await once(first, 'exit')
    const taskId = await newestTask(stage.dataDir)
    const second = stage.spawnProgram(['--resume', taskId])
    const said = readText(second)
    await watched.reached(11)
    const nextAt = performance.timeOrigin + (watched.arrivals()[10] as number)
    await once(second, 'exit')
    if (watched.arrivals().length < 21) throw new Error(`the task did not go on:\n${said()}`)
    times.push(nextAt - (await claimedAt(stage.dataDir, taskId)))
    repeated += watched.model.repeated().length
  }
  return [
    { ...row('recovery: claim to next request, setup included', 'ms', null, times, 1_000) },
    { ...single('recovery: answered requests asked again', '', repeated), reach: 0 },
  ]
}

export async function fold(): Promise<Row[]> {
  const text = execFileSync(process.execPath, [path.join(import.meta.dirname, 'fold.ts')], { encoding: 'utf8' })
  const { foldMs } = JSON.parse(text.trim().split('\n').at(-1) ?? '{}') as { foldMs: number }
  return [{ ...single('fold of 10,000 events', 'ms', foldMs), reach: 200 }]
}

type Runs = Record<Who, Seen[]>

/** In turns, so that what else the machine does meets all of them alike. */
async function takeTurns(
  stage: Stage,
  rounds: number,
  who: readonly Who[],
  kind: Kind,
  turns: number,
  latencyMs: number,
  withMemory = false,
): Promise<Runs> {
  const runs: Runs = { floor: [], program: [], thread: [] }
  for (let round = 0; round < rounds; round += 1)
    for (const each of who) runs[each].push(await stage.run({ who: each, kind, turns, latencyMs, memory: withMemory }))
  return runs
}

function row(what: string, unit: string, floor: readonly number[] | null, values: readonly number[], reach: number | null): Row {
  return { what, unit, floor: floor === null ? null : median(floor), value: median(values), best: Math.min(...values), reach }
}

function single(what: string, unit: string, value: number): Row {
  return { what, unit, floor: null, value, best: null, reach: null }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

async function newestTask(dataDir: string): Promise<string> {
  return await withLedger(dataDir, async ledger => (await ledger.tasks({ limit: 1 }))[0]?.taskId ?? '')
}

async function claimedAt(dataDir: string, taskId: string): Promise<number> {
  return await withLedger(dataDir, async ledger => {
    const starts = (await ledger.readEvents(taskId)).filter(event => event.type === 'attempt.started')
    return starts.at(-1)?.at ?? 0
  })
}

async function withLedger<T>(dataDir: string, ask: (ledger: ReturnType<typeof openSqliteLedger>) => Promise<T>): Promise<T> {
  const ledger = openSqliteLedger({ dataDir, durability: 'process', clock: Date.now })
  try {
    return await ask(ledger)
  } finally {
    await ledger.close()
  }
}
