import { writeFileSync } from 'node:fs'
import { goldenPath, writeGoldenLedgers } from '../ledger/golden-ledger.ts'

/**
 * Writes `ledger-v1.json`. Run it only while nothing was released and a payload's schema changed. After that the file is
 * what old ledgers look like: a new shape is a new version with a migrator and a golden file of its own.
 */
writeFileSync(goldenPath, `${JSON.stringify(await writeGoldenLedgers(), null, 2)}\n`)
