/**
 * A bell, not the truth: a lost ring costs at most one sweep, a false one costs one look at the ledger. Nothing of it may
 * stop, hold up or end the process.
 */
export type Queue = {
  /**
   * Never throws and never waits longer than `ringWaitMs`. 'lost': nobody may have heard; the sweep finds the task. Safe to
   * repeat. The lower the priority's number, the sooner it is heard.
   */
  ring(taskId: string, priority: number): Promise<'rung' | 'lost'>
  /**
   * One listener a process, which must not throw; returns how to stop listening. Called with the task ids that were rung,
   * each at least once, in every process that listens or in one of them.
   */
  listen(onRing: (taskId: string) => void): () => void
  /** What `/readyz`, `/metrics` and `doctor` show. */
  health(): QueueHealth
  /** Never throws, returns within `closeWaitMs`, and leaves nothing open; rings are lost from then on. Safe to repeat. */
  close(): Promise<void>
}

export type QueueHealth = { kind: 'in-process' } | RedisHealth

export type RedisHealth = {
  kind: 'redis'
  /** Refused: Redis answers, but as it is set up it can not be used, and the reason says what mends that. */
  state: 'up' | 'connecting' | 'refused'
  /** Null while it is up, and before the first try has ended. */
  reason: string | null
  /** UTC milliseconds of the last ring that was heard or the last poll that was answered; null: never. */
  heardAt: number | null
  /** Rings that nobody has taken yet, at the last poll; null: not known. What stays above 0 means that nobody listens. */
  waiting: number | null
}
