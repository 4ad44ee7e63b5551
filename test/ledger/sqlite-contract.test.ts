import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteLedger } from '../../ledger/index.ts'
import { describeLedger, type LedgerScene } from './contract.ts'
import { startedAt } from './samples.ts'

describeLedger('SQLite, durable', () => openScene('durable', 'durable'))
describeLedger('SQLite, a session’s connection beside a durable one', () => openScene('process', 'durable'))

async function openScene(first: 'durable' | 'process', second: 'durable' | 'process'): Promise<LedgerScene> {
  const dataDir = mkdtempSync(join(tmpdir(), 'grokbot-ledger-'))
  let now = startedAt
  const clock = () => now
  const ledger = openSqliteLedger({ dataDir, durability: first, clock })
  const other = openSqliteLedger({ dataDir, durability: second, clock })
  return {
    ledger,
    other,
    setClock: at => {
      now = at
    },
    close: async () => {
      await ledger.close()
      await other.close()
      rmSync(dataDir, { recursive: true })
    },
  }
}
