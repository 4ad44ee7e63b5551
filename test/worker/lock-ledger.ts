import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'

/** Another process that has the ledger's write lock: whoever writes waits inside SQLite, where no message reaches it. It lets go by itself, for those who wait for
 * the lock on the thread that would tell it to. */
export async function lockLedger(dataDir: string, heldMs = 1e6): Promise<() => Promise<void>> {
  const script = `const d = new (require('better-sqlite3'))(process.argv[1]); d.exec('BEGIN IMMEDIATE'); console.log('held'); setTimeout(() => {}, ${heldMs})`
  const child = spawn(process.execPath, ['-e', script, path.join(dataDir, 'ledger.db')], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  return async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
}
