/** Every maximum of a session, with its unit in its name. The operator may set each one. */
export const sessionLimits = {
  /** Tries of one model request, the first included. */
  modelTriesMax: 15,
  /** Tries of one model request that was answered 429. */
  rateLimitTriesMax: 2,
  backoffBaseMs: 2_000,
  backoffMaxMs: 30_000,
  /** How far a wait may lie from its nominal length: 20 = ± 20 %. */
  backoffJitterPercent: 20,
  /** The longest Retry-After that is obeyed. */
  retryAfterMaxMs: 120_000,
  modelConnectMs: 10_000,
  /** No chunk at all, or only chunks without content, for this long. */
  modelIdleMs: 600_000,
  modelTotalMs: 1_200_000,
  /** Text, reasoning and arguments of one answer together. */
  answerBytesMax: 4_194_304,
  errorBodyBytesMax: 65_536,
  callsPerTurnMax: 64,
  /** How long a cancelled tool may take to come back before the session goes on without it. */
  cancelGraceMs: 1_000,
  /** A kill switch that cannot be read still lets reads pass for this long after it was last seen clear. */
  killSwitchStaleMs: 60_000,
  hookMs: 5_000,
  argumentsEchoBytesMax: 2_000,
  issueBytesMax: 65_536,
  instructionsBytesMax: 32_768,

  readLinesMax: 1_000,
  readTokensMax: 25_000,
  readBytesMax: 10_485_760,
  writeBytesMax: 5_242_880,
  listCharsMax: 10_000,
  listEntriesMax: 100_000,
  grepLinesDefault: 200,
  grepLinesMax: 2_000,
  grepFilesDefault: 500,
  grepFilesMax: 10_000,
  grepLineCharsMax: 1_000,
  grepOutputBytesMax: 40_000,
  grepStdoutBytesMax: 5_000_000,
  grepMs: 20_000,
  commandDefaultMs: 120_000,
  commandMaxMs: 300_000,
  commandOutputCharsMax: 20_000,
  /** An argument of execve may have 128 KiB; a longer script could not be started. */
  scriptBytesMax: 120_000,
  todosMax: 200,
} as const

export type SessionLimits = { [K in keyof typeof sessionLimits]: number }
