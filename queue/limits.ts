/**
 * The queue's own limits, each with its unit. They follow from how it works and not from what an operator runs, but a
 * queue can be opened with others.
 */
export const queueLimits = {
  /** How long one ring may hold up whoever rings. */
  ringWaitMs: 1_000,
  /** Rings that Redis has not answered yet; one more is lost at once. */
  ringsUnansweredMax: 256,
  /** Pause between polls of Redis: so late is a ring heard at most whose call did not reach the listener. */
  pollMs: 1_000,
  /** One command to Redis; one that takes longer ends the connection it was sent on. */
  commandWaitMs: 2_000,
  /** Until a connection to Redis is there and has greeted. */
  connectWaitMs: 3_000,
  /** All of one poll; one that takes longer ends the connection too, whatever it hangs on. */
  pollWaitMs: 5_000,
  /** Rings taken one after another in one poll; what is more waits for the next. */
  ringsInRowMax: 50,
  /** Such rows side by side. */
  ringRowsMax: 10,
  /** How long a ring is kept from others by a process that took it and died before it was done with it. */
  ringLockMs: 10_000,
  /** First wait before a new connection; it doubles. */
  reconnectWaitMs: 50,
  /** The longest of those waits. */
  reconnectWaitMsMax: 1_000,
  /** How long closing may take, also while Redis is away. */
  closeWaitMs: 1_000,
  /** Entries that BullMQ keeps of its own events, which nobody here reads. */
  queueEventsMax: 100,
  /** A reason is cut to this: an error's words are its sender's. */
  reasonCharactersMax: 200,
} as const

export type QueueLimits = { [Name in keyof typeof queueLimits]: number }
