import { findDeadOwners, holdOwnerLock, type OwnerLock } from '../ledger/index.ts'

/** More tasks at once than this are not worked on by all processes of one data folder together. */
const slotsMax = 200

export type TakenSlot = { slot: number; release(): void }

/**
 * The lowest slot no living process of this data folder has. A slot is a Unix user of its own, so two tasks in one slot
 * could read each other's files; the kernel lock keeps processes apart and goes with its holder.
 */
export function takeSlot(dataDir: string): TakenSlot {
  for (let slot = 0; slot < slotsMax; slot++) {
    const name = `slot-${slot}`
    if (findDeadOwners(dataDir, [name]).length === 0) continue
    const lock = tryHold(dataDir, name)
    if (lock) return { slot, release: () => lock.release() }
  }
  throw new Error(`all ${slotsMax} slots are taken`)
}

/** Null: another process was quicker. */
function tryHold(dataDir: string, name: string): OwnerLock | null {
  try {
    return holdOwnerLock(dataDir, name)
  } catch {
    // The lock says nothing else by throwing than that it is held; the next slot is tried.
    return null
  }
}
