/** Telemetry's own limits, each with its unit. They follow from how it works and not from what an operator runs. */
export const telemetryLimits = {
  /** A shorter credential is not looked for: it stands in other texts too. */
  secretLengthMin: 8,
  /** So long must a part of a credential be to be looked for alone: every part of twice that, less one, holds one whole. */
  secretPartMin: 16,
  /** So much of a text is looked through at a time for what is spread over it, which takes a copy. */
  barePieceCharacters: 1_048_576,
  /** Credentials that expire. One that is dropped early is still known by its shape. */
  expiringMax: 500,
  /** A clock of ours may be behind the one that says when a credential ends. */
  clockSkewMs: 300_000,
  /** What is nested deeper in a log line than any field of ours is not written. */
  logDepthMax: 4,
  /** An error's causes in one log line. */
  logCausesMax: 5,
} as const
