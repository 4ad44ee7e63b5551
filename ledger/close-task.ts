import { sql } from 'kysely'
import type { Outcome, Usage } from '../domain/index.ts'
import { settleReservations } from './budgets.ts'
import { assertLedger } from './ledger-assertion.ts'
import { type Program, statement } from './statement.ts'

/** Closes the task's row, exactly once, and settles what is still reserved for it with what its events say it spent. */
export function* closeTask(task: number, at: number, outcome: Outcome): Program<void> {
  const [closed] = yield* close({ task, at, outcome })
  assertLedger(closed !== undefined, 'a task ends exactly once', { task, outcome })
  yield* settleReservations(task, closed.spentMicroUsd)
}

const close = statement<{ task: number; at: number; outcome: string }, { spentMicroUsd: number }>((database, argument) =>
  database
    .updateTable('tasks')
    .set({ state: 'ended', endedAt: argument('at'), outcome: argument('outcome') })
    .where('number', '=', argument('task'))
    .where('state', '!=', 'ended')
    .returning('spentMicroUsd'),
)

/** Counted while it is spent, so that closing needs no look at the events. An unknown price adds nothing. */
export function* addSpending(task: number, { costMicroUsd }: Usage): Program<void> {
  if (costMicroUsd !== null && costMicroUsd > 0) yield* addCost({ task, costMicroUsd })
}

const addCost = statement<{ task: number; costMicroUsd: number }>((database, argument) =>
  database
    .updateTable('tasks')
    .set({ spentMicroUsd: sql`${sql.ref('spentMicroUsd')} + ${argument('costMicroUsd')}` })
    .where('number', '=', argument('task')),
)

/** The task's row says that it was asked to end, so that nobody has to look through its events for that. */
export const markCancelled = statement<{ task: number; at: number }>((database, argument) =>
  database
    .updateTable('tasks')
    .set({ cancelRequestedAt: argument('at') })
    .where('number', '=', argument('task'))
    .where('cancelRequestedAt', 'is', null),
)
