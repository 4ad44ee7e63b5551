import { writeSync } from 'node:fs'
import { openSqliteLedger } from '../../ledger/index.ts'
import { claimOptions, eventOf, taskOf } from './samples.ts'

/** Appends one payload that becomes a file, in process mode; its system calls are traced. */
const [dataDir = ''] = process.argv.slice(2)
const ledger = openSqliteLedger({ dataDir, durability: 'process', clock: Date.now })
await ledger.acceptTask(taskOf('T1'))
await ledger.claimTask('T1', claimOptions())
writeSync(1, 'begin\n')
const events = [eventOf('tool.settled', { result: 'x'.repeat(40_000) })]
await ledger.append({ taskId: 'T1', attempt: 1, actor: 'worker:1', at: 1, expectedSeq: 1, events })
writeSync(1, 'answer\n')
process.exit(0)
