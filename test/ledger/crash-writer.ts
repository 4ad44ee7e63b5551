import { writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSqliteLedger } from '../../ledger/index.ts'
import { claimOptions, eventOf, taskOf } from './samples.ts'

/** Appends and says each seq once it was told that it is stored. It is made to be killed long before it is done. */
const [dataDir = '', durability = 'durable'] = process.argv.slice(2)
const ledger = openSqliteLedger({ dataDir, durability: durability as 'durable' | 'process', clock: Date.now })
await ledger.acceptTask(taskOf('T1'))
const claim = await ledger.claimTask('T1', claimOptions({ now: Date.now(), leaseUntil: 0, recoveriesMax: 1_000 }))
if (claim === null) throw new Error('the task could not be claimed')
let seq = (await ledger.task('T1'))?.lastSeq ?? 0
for (let appends = 0; appends < 2_000; appends += 1) {
  // Every fifth payload is a file of its own.
  const result = seq % 5 === 0 ? 'x'.repeat(40_000) : `result ${seq}`
  const events = [eventOf('tool.settled', { result }), eventOf('snapshot.taken')]
  const appended = await ledger.append({ ...claim, actor: 'worker:1', at: seq, expectedSeq: seq, events })
  if (appended.kind !== 'appended') throw new Error(`the append was ${appended.kind}`)
  seq = appended.lastSeq
  writeSync(1, `${seq}\n`)
  // Lets the killer come in time; most kills still hit an append.
  if (seq % 6 === 1) await sleep(2)
}
