export const egressLimits = {
  connectionsMax: 64,
  headerBytesMax: 16 * 1024,
  headersMs: 10_000,
  resolveMs: 10_000,
  connectMs: 15_000,
  idleMs: 120_000,
  /** One connection, from its first byte to its last. */
  connectionMs: 15 * 60_000,
  logEntriesMax: 1000,
  logTextMax: 255,
  clientHelloBytesMax: 16 * 1024 + 5,
  clientHelloMs: 10_000,
} as const
