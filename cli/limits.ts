/** The command line's own limits, each with its unit. They follow from how it works and not from what an operator runs. */
export const cliLimits = {
  /** How long a delivery that is being stored may take to get its answer: GitHub sends one that was cut off to nobody else. */
  lastAnswersMs: 1_000,
  /** From here on an effect that is still unknown is shown by `doctor`: reading it back has not helped. */
  unknownShownMs: 900_000,
  /** How long a demonstration waits for its own Redis, for a process to start and to stop, and for the moment to kill one. */
  redisStartMs: 10_000,
  processStartMs: 20_000,
  processStopMs: 10_000,
  demoKillMs: 60_000,
  /** How long `deliver` waits for its answer; GitHub waits as long. */
  deliverMs: 10_000,
  /** So many of them are named. */
  unknownNamedMax: 10,
  /** How finely the lag of the event loop is measured. */
  lagResolutionMs: 20,
} as const
