import { writeSync } from 'node:fs'
import { openSqliteLedger } from '../../ledger/index.ts'

/** Records deliveries, so many at the same time, and answers each; its system calls are traced. */
const [dataDir = '', durability = '', deliveries = '0', together = '1'] = process.argv.slice(2)
const ledger = openSqliteLedger({ dataDir, durability: durability as 'durable' | 'process', clock: Date.now })
writeSync(1, 'begin\n')
for (let at = 0; at < Number(deliveries); at += Number(together)) {
  await Promise.all(Array.from({ length: Number(together) }, (_, index) => answer(at + index)))
}
// Not closed: closing syncs what is left.
process.exit(0)

async function answer(number: number): Promise<void> {
  await ledger.recordDelivery({ id: `guid-${number}`, event: 'e', action: 'a', body: Buffer.from('{}'), receivedAt: number })
  writeSync(1, 'answer\n')
}
