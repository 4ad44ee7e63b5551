import { writeSync } from 'node:fs'
import { openSqliteLedger } from '../../ledger/index.ts'

/** Records deliveries, several at a time, until the disk takes no more, and says what became of each. */
const [dataDir = ''] = process.argv.slice(2)
const ledger = openSqliteLedger({ dataDir, durability: 'durable', clock: Date.now })
const body = Buffer.alloc(50_000)
for (let number = 0, failed = 0; failed === 0; number += 8) {
  const ids = Array.from({ length: 8 }, (_, index) => `guid-${number + index}`)
  const results = await Promise.allSettled(ids.map(id => ledger.recordDelivery({ id, event: 'e', action: 'a', body, receivedAt: 1 })))
  for (const [index, result] of results.entries()) {
    const reason = result.status === 'rejected' ? (result.reason as Error) : null
    if (reason !== null) failed += 1
    writeSync(1, `${ids[index]} ${reason === null ? 'stored' : `${reason.name} ${(reason.cause as { code?: string }).code}`}\n`)
  }
}
// Reading goes on when writing does not.
writeSync(1, `pending ${(await ledger.pendingDeliveries(100_000)).length}\n`)
