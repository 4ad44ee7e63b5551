export type {
  AcceptResult,
  AppendBatch,
  AppendResult,
  BudgetRow,
  Claim,
  ClaimOptions,
  Delivery,
  EffectRow,
  Ledger,
  LedgerRecord,
  NewDelivery,
  NewTask,
  TaskRow,
} from './ledger.ts'
export { LedgerAssertion } from './ledger-assertion.ts'
export { LedgerUnavailable } from './ledger-unavailable.ts'
export { type LedgerLimits, ledgerLimits } from './limits.ts'
export { openSqliteLedger, type SqliteLedgerOptions } from './open-sqlite-ledger.ts'
export { findDeadOwners, holdOwnerLock, type OwnerLock } from './owner-lock.ts'
