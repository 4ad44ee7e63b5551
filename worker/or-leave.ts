import { LedgerAssertion } from '../ledger/index.ts'
import type { EffectTask } from './effect-ports.ts'
import { OwnershipLost } from './task-log.ts'

/** The outcome must be recorded even when GitHub is away: what could not be said then stays open, and the sweep does it. */
export async function orLeave(task: Pick<EffectTask, 'id' | 'ports'>, work: () => Promise<unknown>): Promise<'done' | 'left'> {
  try {
    await work()
    return 'done'
  } catch (error) {
    if (error instanceof OwnershipLost || error instanceof LedgerAssertion) throw error
    task.ports.logger.warn({ error, task: task.id }, 'a last word is left to the sweep')
    return 'left'
  }
}
