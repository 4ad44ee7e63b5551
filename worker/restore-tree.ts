import type { SessionOrder } from './session-order.ts'

/** Brings the work tree to a recorded snapshot inside a fresh sandbox; null = as it was after setup. */
export async function restoreTree(_order: SessionOrder, _tree: string | null): Promise<void> {
  throw new Error('restoring a work tree is not built yet')
}
