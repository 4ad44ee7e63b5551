import { limitTable } from '../config-schema/index.ts'

/** Every maximum of a session, with its unit in its name. The operator may set each one. */
export const sessionLimits = {
  /** Tries of one model request, the first included. */
  modelTriesMax: limitTable.modelTriesMax.default,
  /** Tries of one model request that was answered 429. */
  rateLimitTriesMax: 2,
  backoffBaseMs: 2_000,
  backoffMaxMs: 30_000,
  /** How far a wait may lie from its nominal length: 20 = ± 20 %. */
  backoffJitterPercent: 20,
  /** The longest Retry-After that is obeyed. */
  retryAfterMaxMs: 120_000,
  modelConnectMs: limitTable.modelConnectMs.default,
  /** No chunk at all, or only chunks without content, for this long. */
  modelIdleMs: limitTable.modelIdleMs.default,
  /** One answer, from its first try to its last byte. */
  modelTotalMs: limitTable.modelTotalMs.default,
  /** Text, reasoning and arguments of one answer together. */
  answerBytesMax: 4_194_304,
  errorBodyBytesMax: 65_536,
  callsPerTurnMax: 64,
  /** How long a stopped tool may take to come back before the session goes on without it. */
  toolGraceMs: 1_000,
  /** How long a stopped session waits for the tree that is being made. */
  snapshotGraceMs: 500,
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
  commandWallMs: limitTable.commandWallMs.default,
  commandWallMsMax: limitTable.commandWallMsMax.default,
  commandOutputCharsMax: 20_000,
  /** Of the last answer in the session's end: titles, bodies and messages are made from it. */
  endTextBytesMax: 65_536,
  /** An argument of execve may have 128 KiB; a longer script could not be started. */
  scriptBytesMax: 120_000,
  todosMax: 200,
}

export type SessionLimits = { [limit in keyof typeof sessionLimits]: number }
