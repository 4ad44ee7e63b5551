import { setImmediate } from 'node:timers/promises'
import { emptyTaskState, foldTask, type TaskState } from '../domain/index.ts'
import type { Ledger } from './ledger.ts'
import { ledgerLimits } from './limits.ts'

/**
 * The state of a task as it is recorded, or what became of `from`. Read and folded in pages, between which others have
 * their turn; a task that is erased meanwhile says so (`erased`).
 */
export async function foldRecorded(ledger: Pick<Ledger, 'readEvents'>, taskId: string, from = emptyTaskState()): Promise<TaskState> {
  const { pageEventsMax } = ledgerLimits
  let state = from
  for (;;) {
    const page = await ledger.readEvents(taskId, state.seq, pageEventsMax)
    state = foldTask(page, state)
    if (page.length < pageEventsMax) return state
    await setImmediate()
  }
}
