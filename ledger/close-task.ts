import type { Outcome } from '../domain/index.ts'
import { settleReservations } from './budgets.ts'
import { assertLedger } from './ledger-assertion.ts'
import { type Program, statement } from './statement.ts'

/** Closes the task's row, exactly once, and settles what is still reserved for it with what its events say it spent. */
export function* closeTask(task: number, at: number, outcome: Outcome, spentMicroUsd: number): Program<void> {
  const closed = yield* close({ task, at, outcome })
  assertLedger(closed.length === 1, 'a task ends exactly once', { task, outcome })
  yield* settleReservations(task, spentMicroUsd)
}

const close = statement<{ task: number; at: number; outcome: string }, { number: number }>((database, argument) =>
  database
    .updateTable('tasks')
    .set({ state: 'ended', endedAt: argument('at'), outcome: argument('outcome') })
    .where('number', '=', argument('task'))
    .where('state', '!=', 'ended')
    .returning('number'),
)
