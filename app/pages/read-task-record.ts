import { setImmediate } from 'node:timers/promises'
import { foldTask, type Receipt, type RecordedEvent, receiptsOfEvents, type TaskState } from '../../domain/index.ts'
import type { TaskRow } from '../../ledger/index.ts'
import { pagesLimits } from './limits.ts'

/** The newest of a list, and how many older ones there are. */
export type Newest<T> = { shown: T[]; leftOut: number }
export type EventHead = Pick<RecordedEvent, 'seq' | 'at' | 'type' | 'actor' | 'attempt'>

/** What a page is made of. `isWhole`: every event of it was read. */
export type TaskRecord = {
  row: TaskRow
  state: TaskState
  receipts: Newest<Receipt>
  events: Newest<EventHead>
  isWhole: boolean
}

export type RecordPorts = {
  ledger: {
    /** Null: there is no such task. */
    task(taskId: string): Promise<TaskRow | null>
    /** At most `limit` events with seq > `afterSeq`, in order; payloads of an erased task are null. */
    readEvents(taskId: string, afterSeq: number, limit: number): Promise<RecordedEvent[]>
  }
}

/** Reads a task in pieces and lets others in between; of what is shown as a list only the newest is kept. */
export async function readTaskRecord(row: TaskRow, { ledger }: RecordPorts): Promise<TaskRecord> {
  const { pageEventsAtOnceMax, pageEventsMax, pageReceiptsMax, pageEventRowsMax } = pagesLimits
  let state = foldTask([])
  const receipts = keepNewest<Receipt>(pageReceiptsMax)
  const events = keepNewest<EventHead>(pageEventRowsMax)
  for (let read = 0; read < pageEventsMax; read += pageEventsAtOnceMax) {
    const piece = await ledger.readEvents(row.taskId, state.seq, pageEventsAtOnceMax)
    state = foldTask(piece, state)
    receipts.add(receiptsOfEvents(piece))
    events.add(piece.map(({ seq, at, type, actor, attempt }) => ({ seq, at, type, actor, attempt })))
    if (piece.length < pageEventsAtOnceMax) return { row, state, receipts: receipts.newest(), events: events.newest(), isWhole: true }
    await setImmediate()
  }
  return { row, state, receipts: receipts.newest(), events: events.newest(), isWhole: false }
}

function keepNewest<T>(max: number) {
  let kept: T[] = []
  let count = 0
  return {
    add(items: readonly T[]) {
      count += items.length
      kept = [...kept, ...items].slice(-max)
    },
    newest: (): Newest<T> => ({ shown: kept, leftOut: count - kept.length }),
  }
}
