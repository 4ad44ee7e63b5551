/** The app's own limits, each with its unit. They follow from how it works and not from what an operator runs. */
export const appLimits = {
  /** How long a worker gets tokens of a task that has ended beyond `effectGiveUpMs`: the last of its effects may be settled a while after that. */
  mintAfterEndMs: 86_400_000,
  /** Tasks of one thread that one cancel stops: more than its budgets let anybody ask for in a day. */
  lanesTasksMax: 1_000,
  /** Tasks of one thread that are looked at; in one that had more within the time, the refusal is said again. */
  tasksLookedAtMax: 200,
  /** Stored deliveries that are taken in one go. */
  deliveriesAtOnceMax: 100,
  /** How long one answer of the ledger to `/readyz` counts: whoever asks more often writes no more often. */
  checkKeptMs: 1_000,
  /** Effects the app's half prepares for one task: a reaction, an answer or a check run, a note, the comment of one that waits. */
  effectsOfTaskMax: 4,
  /** Runs of a repository by which it is judged how long one takes. */
  runsJudgedByMax: 5,
  /** Events of a task among which its start is looked for. */
  firstEventsMax: 20,
  /** A worker's call for a token. */
  mintCallBytesMax: 16_384,
  /** Runs that one status names. */
  statusLinesMax: 10,
  /** The time in which the runs that bots start in one thread are counted. */
  botWindowMs: 3_600_000,
  /** Replies that one turn of the outbox ends, beside those that wait. */
  repliesAtOnceMax: 100,
  /** Bytes of all deliveries that are coming in at one moment: ten of the largest, and thousands of the usual. */
  receivingBytesMax: 268_435_456,
  /** Until all of a delivery has come in: GitHub itself waits ten seconds for the answer to it. */
  requestMsMax: 20_000,
  /** Until its head has. */
  headersMsMax: 10_000,
  /** Pause between looks for connections that take longer. */
  connectionsLookMs: 1_000,
  /** Pages of the App's deliveries, a hundred each, that one sweep reads; the next one goes on from there. */
  deliveryPagesMax: 50,
  /** GitHub lists a delivery when it has ended, so that older ones come in behind newer ones: so much is read again. */
  deliveriesOverlapMs: 120_000,
  /** Deliveries that one sweep asks for again. */
  redeliveriesMax: 200,
  /** Failed deliveries that are kept in mind between two sweeps. */
  failedDeliveriesMax: 2_000,
  /** The longest wait before the same delivery is asked for once more; the first is the pause between two sweeps. */
  redeliveryWaitMsMax: 21_600_000,
} as const
