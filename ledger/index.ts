export { type AppendedBehind, appendBehind, type BehindBatch } from './append-behind.ts'
export { foldRecorded } from './fold-recorded.ts'
export type {
  Claim,
  ClaimOptions,
  Delivery,
  EffectRow,
  Ledger,
  LedgerRecord,
  NewTask,
  TaskRow,
} from './ledger.ts'
export { LedgerAssertion } from './ledger-assertion.ts'
export { LedgerUnavailable } from './ledger-unavailable.ts'
export { openSqliteLedger, type SqliteLedgerOptions } from './open-sqlite-ledger.ts'
export { findDeadOwners, holdOwnerLock, type OwnerLock } from './owner-lock.ts'
