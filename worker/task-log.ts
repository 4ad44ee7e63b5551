import { foldTask, type NewEvent, type TaskState } from '../domain/index.ts'
import { appendBehind, foldRecorded, type Ledger } from '../ledger/index.ts'
import { redactStrings } from '../telemetry/index.ts'

/** The one writer of a task's events on this thread: what it knows is what the ledger says, folded. */
export type TaskLog = {
  readonly taskId: string
  readonly attempt: number
  state(): TaskState
  /** Appends; events somebody else added meanwhile (a cancel, the session's thread) are read in first. Throws `OwnershipLost`. */
  record(...events: readonly NewEvent[]): Promise<void>
  /** Reads what was added by others. */
  refresh(): Promise<TaskState>
}

/** A newer attempt owns the task: this one writes nothing more, anywhere. */
export class OwnershipLost extends Error {
  override readonly name = 'OwnershipLost'
}

/** For `catch`: a lost task as a value, anything else thrown on. */
export function fencedOrThrow(error: unknown): 'fenced' {
  if (error instanceof OwnershipLost) return 'fenced'
  throw error
}

export type TaskLogOptions = { taskId: string; attempt: number; actor: string; now(): number }

export async function openTaskLog(ledger: Pick<Ledger, 'append' | 'readEvents'>, options: TaskLogOptions): Promise<TaskLog> {
  const { taskId, attempt, actor, now } = options
  let state = await foldRecorded(ledger, taskId)
  async function refresh() {
    const read = await foldRecorded(ledger, taskId, state)
    // An append may have gone further meanwhile, or have been read here first: no event is folded twice.
    if (read.seq > state.seq) state = read
    return state
  }
  // Appends of one log run one after another: each must see the seq the one before it left.
  let last: Promise<unknown> = Promise.resolve()
  async function append(events: readonly NewEvent[]) {
    const batch = { taskId, attempt, actor, now, events }
    const result = await appendBehind(ledger, batch, async race => (race === 0 ? state : await refresh()).seq)
    if (result.kind === 'fenced') throw new OwnershipLost(`task ${taskId}: attempt ${result.attempt} took over from attempt ${attempt}`)
    if (result.kind === 'appended' && result.lastSeq > state.seq) state = foldTask(result.events, state)
  }
  return {
    taskId,
    attempt,
    state: () => state,
    refresh,
    record(...events) {
      // No event holds a credential of ours, whatever it was made of: it is kept, signed and shown.
      const next = last.then(() => append(redactStrings(events)))
      last = next.catch(() => undefined)
      return next
    },
  }
}
