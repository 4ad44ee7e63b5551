import type { TaskAccepted } from '../domain/index.ts'
import type { Ledger } from '../ledger/index.ts'

/** What a task was accepted as: its first event, and nothing else of it is read. Null: refused, erased or unknown. */
export async function readAccepted(taskId: string, ledger: Pick<Ledger, 'readEvents'>): Promise<TaskAccepted | null> {
  const [first] = await ledger.readEvents(taskId, 0, 1)
  return first?.type === 'task.accepted' ? first.payload : null
}
