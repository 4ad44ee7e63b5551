import { findDeadOwners, holdOwnerLock, type OwnerLock } from '../ledger/index.ts'

/** One outbox, and one sweep of deliveries, a data folder: of several processes the one that holds the kernel lock does both, and another follows when it dies. */
export type OutboxLead = { leads(): boolean; release(): void }

const leadName = 'outbox'

export function openOutboxLead(dataDir: string): OutboxLead {
  let lock: OwnerLock | null = null
  return {
    leads() {
      // Looked at without waiting; only a free lock is taken.
      if (lock === null && findDeadOwners(dataDir, [leadName]).length > 0) lock = holdOwnerLock(dataDir, leadName)
      return lock !== null
    },
    release() {
      lock?.release()
      lock = null
    },
  }
}
