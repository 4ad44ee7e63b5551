import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { goldenBundles } from '../domain/golden-bundle.ts'

/**
 * Writes `bundle-v1-*.json`. Run it only while nothing was released and `ledger-v1.json` changed. After that the files
 * are what bundles out in the world look like: another form is another format with files of its own.
 */
for (const [name, bytes] of Object.entries(goldenBundles)) writeFileSync(path.join(import.meta.dirname, `bundle-v1-${name}.json`), bytes)
