import { holdOwnerLock } from '../../ledger/owner-lock.ts'

/** Holds an owner lock until it is killed. It imports no more than that, so that many of it start quickly. */
const [dataDir = '', owner = ''] = process.argv.slice(2)
holdOwnerLock(dataDir, owner)
process.stdout.write('held\n')
// Ends by itself when a test that broke off never kills it.
setTimeout(() => {}, 60_000)
