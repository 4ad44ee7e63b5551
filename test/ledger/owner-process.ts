import { holdOwnerLock } from '../../ledger/index.ts'

/** Holds an owner lock until it is killed. */
const [dataDir = '', owner = ''] = process.argv.slice(2)
holdOwnerLock(dataDir, owner)
process.stdout.write('held\n')
setInterval(() => {}, 1_000)
