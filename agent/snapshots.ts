import type { Journal } from './journal.ts'
import type { ProgressUpdate, SessionPorts } from './ports.ts'

/**
 * Trees of the work tree, made while the model thinks. The next batch that can write waits for the one before it, so that a
 * tree is exactly the state after its turn.
 */
export type SnapshotKeeper = {
  begin(turn: number): void
  /** True after a tree was refused: whatever is done since then would be lost in a crash, so the next batch tries again. */
  owed(): boolean
  /** Resolves when no tree is being made; false = fenced. */
  settled(): Promise<boolean>
  /** How many there are. */
  count(): number
}

export const noSnapshots: SnapshotKeeper = { begin: () => undefined, owed: () => false, settled: async () => true, count: () => 0 }

export function openSnapshots(
  port: SessionPorts['snapshot'],
  journal: Journal,
  known: number,
  progress: (update: ProgressUpdate) => void,
): SnapshotKeeper {
  let count = known
  let owed = false
  let pending: Promise<boolean> = Promise.resolve(true)
  const take = async (turn: number): Promise<boolean> => {
    const result = await port()
    owed = result.kind === 'refused'
    if (result.kind === 'refused') {
      progress({ kind: 'snapshot', turn, outcome: 'refused', reason: result.reason })
      return true
    }
    const { tree, live } = result
    const recorded = await journal.append({ type: 'snapshot.taken', commandId: `snapshot:${turn}`, payload: { turn, tree, live } })
    if (recorded) count++
    progress({ kind: 'snapshot', turn, outcome: 'taken', reason: '' })
    return recorded
  }
  return {
    begin(turn) {
      const previous = pending
      pending = previous.then(() => take(turn))
      // A tree that can not be made is noticed by whoever waits for it, not as an unhandled rejection.
      pending.catch(() => {})
    },
    owed: () => owed,
    settled: () => pending,
    count: () => count,
  }
}
