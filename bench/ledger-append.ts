import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { openSqliteLedger } from '../ledger/index.ts'
import { claimOptions, eventOf, taskOf } from '../test/ledger/samples.ts'

/**
 * One event appended by a session (process mode) and by the main thread (durable). The floor is the same rows written by
 * prepared statements with nothing around them. `node bench/ledger-append.ts`
 */
const appends = 5_000
const reachMs = 0.15

const floor = median(measureFloor())
const result = { floorMs: floor, processMs: median(await measure('process', appends)), durableMs: median(await measure('durable', 300)) }
process.stdout.write(`append of one event, median of ${appends}
  process mode ${result.processMs} ms, reach ${reachMs} ms; floor ${floor} ms (two prepared inserts and a commit)
  durable mode ${result.durableMs} ms (one sync each, alone)
${JSON.stringify(result)}
`)

async function measure(durability: 'durable' | 'process', count: number): Promise<number[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'grokbot-bench-'))
  const ledger = openSqliteLedger({ dataDir, durability, clock: Date.now })
  await ledger.acceptTask(taskOf('T1'))
  await ledger.claimTask('T1', claimOptions())
  const events = [eventOf('tool.settled', { result: 'x'.repeat(500) })]
  const times: number[] = []
  for (let seq = 1; seq <= count; seq += 1) {
    const startedAt = performance.now()
    await ledger.append({ taskId: 'T1', attempt: 1, actor: 'worker:1', at: seq, expectedSeq: seq, events })
    times.push(performance.now() - startedAt)
  }
  await ledger.close()
  rmSync(dataDir, { recursive: true })
  return times
}

function measureFloor(): number[] {
  const folder = mkdtempSync(join(tmpdir(), 'grokbot-bench-'))
  const database = new Database(join(folder, 'floor.db'))
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = NORMAL')
  database.prepare('create table events (task integer, seq integer, header text, primary key (task, seq)) without rowid').run()
  database.prepare('create table blobs (number integer primary key, payload blob)').run()
  const [begin, event, blob, commit] = [
    'begin immediate',
    'insert into events values (1, ?, ?)',
    'insert into blobs values (?, ?)',
    'commit',
  ].map(sql => database.prepare(sql))
  const header = 'h'.repeat(200)
  const payload = Buffer.alloc(1_200)
  const times: number[] = []
  for (let seq = 1; seq <= appends; seq += 1) {
    const startedAt = performance.now()
    begin?.run()
    event?.run(seq, header)
    blob?.run(seq, payload)
    commit?.run()
    times.push(performance.now() - startedAt)
  }
  database.close()
  rmSync(folder, { recursive: true })
  return times
}

function median(times: number[]): number {
  times.sort((a, b) => a - b)
  return Number((times[times.length >> 1] ?? 0).toFixed(3))
}
