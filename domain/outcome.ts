/** How an accepted task ended. Every accepted task gets exactly one. */
export const outcomes = ['succeeded', 'failed', 'refused', 'cancelled', 'superseded', 'timed-out', 'errored'] as const
export type Outcome = (typeof outcomes)[number]

/** Why a task ended, and what had been sent by then, in one line. */
export function endWords({ reason, delivered }: { reason: string; delivered?: string | undefined }): string {
  return delivered === undefined ? reason : `${reason}; ${delivered}`
}
