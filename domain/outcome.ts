/** How an accepted task ended. Every accepted task gets exactly one. */
export const outcomes = ['succeeded', 'failed', 'refused', 'cancelled', 'superseded', 'timed-out', 'errored'] as const
export type Outcome = (typeof outcomes)[number]
