import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { emptyTaskState, foldTask, type NewEvent } from '../domain/index.ts'
import { openSqliteLedger } from '../ledger/index.ts'
import { claimOptions, eventOf, taskOf } from '../test/ledger/samples.ts'

/** A task of 10,000 events: folding them, and reading them from the ledger first. `node bench/fold.ts` */
const events = 10_000
const reachMs = 200

const dataDir = mkdtempSync(join(tmpdir(), 'grokbot-bench-'))
const ledger = openSqliteLedger({ dataDir, durability: 'process', clock: Date.now })
await ledger.acceptTask(taskOf('T1'))
await ledger.claimTask('T1', claimOptions())
const turns = Math.ceil(events / 5)
for (let turn = 1, seq = 1; turn <= turns; turn += 1) {
  const batch = turnEvents(turn)
  await ledger.append({ taskId: 'T1', attempt: 1, actor: 'worker:1', at: turn, expectedSeq: seq, events: batch })
  seq += batch.length
}

const reads: number[] = []
const folds: number[] = []
const parses: number[] = []
let recorded = await ledger.readEvents('T1')
for (let run = 0; run < 7; run += 1) {
  reads.push(await measure(async () => (recorded = await ledger.readEvents('T1'))))
  folds.push(await measure(async () => foldTask(recorded)))
}
// What a stored state would cost in their place.
const stored = JSON.stringify(foldTask(recorded))
for (let run = 0; run < 7; run += 1) parses.push(await measure(async () => JSON.parse(stored)))
const one = await measure(async () => {
  let state = emptyTaskState()
  for (const event of recorded.slice(0, 3_000)) state = foldTask([event], state)
})
await ledger.close()
rmSync(dataDir, { recursive: true })

const result = {
  events: recorded.length,
  foldMs: worst(folds),
  readMs: worst(reads),
  parseMs: worst(parses),
  storedMb: Number((stored.length / 1e6).toFixed(1)),
  oneByOneMicroseconds: Math.round(one / 3),
}
process.stdout.write(`fold of ${result.events} events, worst of 7
  fold ${result.foldMs} ms, reach ${reachMs} ms; reading and parsing them first ${result.readMs} ms
  the folded state as JSON: ${result.storedMb} MB, parsed in ${result.parseMs} ms
  one event at a time onto a growing state of 3,000: ${result.oneByOneMicroseconds} µs each
${JSON.stringify(result)}
`)

function turnEvents(turn: number): NewEvent[] {
  const callId = `call_${turn}`
  return [
    eventOf('model.requested', { turn }),
    eventOf('model.answered', { turn, toolCalls: [{ id: callId, name: 'read_file', arguments: '{}' }] }),
    eventOf('tool.started', { turn, callId }),
    eventOf('tool.settled', { turn, callId, result: 'x'.repeat(500) }),
    eventOf('snapshot.taken', { turn }),
  ]
}

async function measure(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

function worst(times: number[]): number {
  return Number(Math.max(...times).toFixed(1))
}
