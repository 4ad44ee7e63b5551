import type { LedgerLimits } from './limits.ts'
import type { PayloadFiles } from './payload-files.ts'

/** What programs need besides the database; fixed in tests of the event format. */
export type LedgerContext = {
  /** UTC milliseconds. */
  clock: () => number
  /** 16 fresh random bytes for each payload. */
  salt: () => Uint8Array
  files: PayloadFiles
  limits: LedgerLimits
}
