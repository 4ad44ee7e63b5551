/** A bell, not the truth: a lost ring costs at most one sweep, a false one costs one look at the ledger. */
export type Queue = {
  ring(taskId: string, priority: number): Promise<void>
  /** One listener a process; returns how to stop listening. */
  listen(onRing: (taskId: string) => void): () => void
  close(): Promise<void>
}
