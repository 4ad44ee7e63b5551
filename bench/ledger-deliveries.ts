import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteLedger } from '../ledger/index.ts'

/**
 * Deliveries made durable a second: so many clients that each wait for their answer before they send the next one.
 * Beside it the floor: how often this disk syncs a small append. `node bench/ledger-deliveries.ts [clients] [bytes]`
 */
const clients = Number(process.argv[2] ?? 64)
const bodyBytes = Number(process.argv[3] ?? 1_000)
const seconds = 4
const reach = { perSecond: 4_000, p99Ms: 50 }

const dataDir = mkdtempSync(join(tmpdir(), 'grokbot-bench-'))
const syncs = measureSyncs(join(dataDir, 'floor'))
const ledger = openSqliteLedger({ dataDir, durability: 'durable', clock: Date.now })
const body = Buffer.alloc(bodyBytes, 'x')
const waits: number[] = []
const until = performance.now() + seconds * 1_000
await Promise.all(Array.from({ length: clients }, (_, client) => sendUntil(client)))
await ledger.close()
rmSync(dataDir, { recursive: true })

waits.sort((a, b) => a - b)
const at = (share: number) => Number((waits[Math.floor((waits.length - 1) * share)] ?? 0).toFixed(2))
const result = {
  clients,
  bodyBytes,
  perSecond: Math.round(waits.length / seconds),
  p50Ms: at(0.5),
  p99Ms: at(0.99),
  maxMs: at(1),
  syncsPerSecond: syncs,
}
process.stdout.write(`deliveries made durable (WAL, synchronous=FULL, group commit)
  ${result.perSecond}/s, reach ${reach.perSecond}/s; p50 ${result.p50Ms} ms, p99 ${result.p99Ms} ms (reach ${reach.p99Ms}), max ${result.maxMs} ms
  floor: this disk syncs a 4 KiB append ${syncs} times a second, one after another
${JSON.stringify(result)}
`)

async function sendUntil(client: number): Promise<void> {
  for (let count = 0; performance.now() < until; count += 1) {
    const startedAt = performance.now()
    await ledger.recordDelivery({ id: `${client}-${count}`, event: 'issue_comment', action: 'created', body, receivedAt: Date.now() })
    waits.push(performance.now() - startedAt)
  }
}

function measureSyncs(path: string): number {
  const file = openSync(path, 'w')
  const page = Buffer.alloc(4_096)
  const end = performance.now() + 1_000
  let count = 0
  for (; performance.now() < end; count += 1) {
    writeSync(file, page)
    fdatasyncSync(file)
  }
  closeSync(file)
  return count
}
