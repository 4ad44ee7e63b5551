import type { ProblemCode } from './catalogue/catalogue.ts'
import type { Payload } from './event.ts'

/** How an accepted task ended. Every accepted task gets exactly one. */
export const outcomes = ['succeeded', 'failed', 'refused', 'cancelled', 'superseded', 'timed-out', 'errored'] as const
export type Outcome = (typeof outcomes)[number]

/** Why a task ended, and what had been sent by then, in one line. */
export function endWords({ reason, delivered }: { reason: string; delivered?: string | undefined }): string {
  return delivered === undefined ? reason : `${reason}; ${delivered}`
}

/** How a task ends that was asked to, and in which words. What it had delivered by then is another matter. */
export function endOfCancel({ by, reason, kind = 'cancel' }: Payload<'cancel.requested'>): CancelEnd {
  if (kind === 'superseded') return { outcome: 'superseded', code: 'superseded', reason }
  if (kind === 'closed') return { outcome: 'cancelled', code: 'thread-closed', reason }
  return { outcome: 'cancelled', code: 'cancelled', reason: `cancelled by ${by}` }
}

type CancelEnd = { outcome: 'cancelled' | 'superseded'; code: ProblemCode; reason: string }

/** Ends that may come in the middle of a delivery. */
export function cutShort({ outcome }: { outcome: Outcome }): boolean {
  return outcome === 'cancelled' || outcome === 'superseded' || outcome === 'timed-out'
}
