import { parentPort } from 'node:worker_threads'
import { findDeadOwners } from '../../ledger/owner-lock.ts'

/** Asks once, as a process of its own or as another thread. */
const [dataDir = '', ...owners] = process.argv.slice(2)
const dead = findDeadOwners(dataDir, owners)
if (parentPort === null) process.stdout.write(JSON.stringify(dead))
else parentPort.postMessage(dead)
