/**
 * The ledger's own limits, each with its unit. They follow from how SQLite works and not from what an operator runs, but
 * a ledger can be opened with others.
 */
export const ledgerLimits = {
  /** How long a write waits for another connection's transaction before it fails. Each one lasts a few milliseconds. */
  busyTimeoutMs: 5_000,
  /** Payloads above this are files: a row of this size still fits into a few pages. */
  inlinePayloadBytesMax: 32_768,
  /** Writes that share one commit at most; a longer queue makes several. */
  groupWritesMax: 256,
  /** Writes that wait for a commit at most; one more is refused at once. */
  waitingWritesMax: 8_192,
  /** Pages in the write-ahead log before a durable connection copies them into the database (8 MiB). */
  checkpointPages: 2_048,
  /** The same for a session's connection: high, because a checkpoint syncs and would stand between two turns (64 MiB). */
  checkpointPagesOfProcess: 16_384,
  /** What the write-ahead log is cut down to after a checkpoint. */
  journalBytesMax: 16_777_216,
  /** How often an erasing tries to empty the write-ahead log while others read it; each try waits `busyTimeoutMs`. */
  eraseCheckpointsMax: 5,
  /** How often one append may lose the race against another writer of the same task before that is a bug. */
  racesMax: 50,
  /** The last priority there is: a claim looks at each that waits. */
  priorityMax: 9,
  /** Tasks of one lane that are asked to end in one transaction. */
  laneCancelsMax: 500,
  /** Tenants that are named in the figures of the queue. */
  tenantsNamedMax: 10,
  /** Events that are read at once, before others have their turn. */
  pageEventsMax: 200,
  /** Payloads that are read at once: a page ends with the event that reaches this. */
  pageBytesMax: 1_048_576,
  /** How often a lock of our own is tried for. */
  lockTriesMax: 5,
  /** Long enough for somebody who is just looking whether the lock is held. */
  lockWaitMs: 200,
} as const

export type LedgerLimits = { [Name in keyof typeof ledgerLimits]: number }
