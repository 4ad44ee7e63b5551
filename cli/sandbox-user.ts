import type { WorkerSettings } from '../worker/index.ts'

const uidBaseDefault = 61_000

/** Slots mode: one uid per slot when we are root. Single mode: everything is our own user's. */
export function sandboxUser({ operator }: WorkerSettings, slot: number): { uid: number; gid: number } {
  const uid = process.getuid?.() ?? -1
  if (uid !== 0) return { uid, gid: process.getgid?.() ?? -1 }
  const slotUid = (operator.sandbox?.uidBase ?? uidBaseDefault) + slot
  return { uid: slotUid, gid: slotUid }
}
