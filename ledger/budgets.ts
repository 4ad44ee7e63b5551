import { sql } from 'kysely'
import type { BudgetRow, NewTask } from './ledger.ts'
import { assertLedger } from './ledger-assertion.ts'
import { type Program, statement } from './statement.ts'

type Shortage = { key: string; leftMicroUsd: number }

/** The first budget that can not bear its reservation, or null. Asked before anything is written. */
export function* findShortage(budgets: NewTask['budgets']): Program<Shortage | null> {
  assertLedger(new Set(budgets.map(({ key }) => key)).size === budgets.length, 'a task has one reservation in a budget', { budgets })
  for (const { key, microUsd, limitMicroUsd } of budgets) {
    assertLedger(microUsd >= 0, 'a reservation is not negative', { key, microUsd })
    if (limitMicroUsd === null) continue
    const { reservedMicroUsd, spentMicroUsd } = yield* budget(key)
    const leftMicroUsd = Math.max(0, limitMicroUsd - reservedMicroUsd - spentMicroUsd)
    // A task that sets nothing aside, because nobody knows what it may cost, is not free of the limit.
    if (microUsd > leftMicroUsd || leftMicroUsd === 0) return { key, leftMicroUsd }
  }
  return null
}

export function* reserveBudgets(task: number, budgets: NewTask['budgets']): Program<void> {
  for (const { key, microUsd } of budgets) {
    yield* addToBudget({ key, reserved: microUsd, spent: 0 })
    yield* insertReservation({ task, key, microUsd })
  }
}

/** Turns what is still reserved for the task into `spentMicroUsd`. False: nothing was reserved any more. */
export function* settleReservations(task: number, spentMicroUsd: number): Program<boolean> {
  assertLedger(spentMicroUsd >= 0, 'spending is not negative', { task, spentMicroUsd })
  const settled = yield* settle({ task, spentMicroUsd })
  for (const { key, microUsd } of settled) {
    yield* addToBudget({ key, reserved: -microUsd, spent: spentMicroUsd })
    const { reservedMicroUsd } = yield* budget(key)
    assertLedger(reservedMicroUsd >= 0, 'a budget holds no negative reservation', { key, reservedMicroUsd })
  }
  return settled.length > 0
}

export function* budget(key: string): Program<BudgetRow> {
  const [row] = yield* selectBudget({ key })
  return row ?? { key, reservedMicroUsd: 0, spentMicroUsd: 0 }
}

const selectBudget = statement<{ key: string }, BudgetRow>((database, argument) =>
  database.selectFrom('budgets').select(['key', 'reservedMicroUsd', 'spentMicroUsd']).where('key', '=', argument('key')),
)

const addToBudget = statement<{ key: string; reserved: number; spent: number }>((database, argument) =>
  database
    .insertInto('budgets')
    .values({ key: argument('key'), reservedMicroUsd: argument('reserved'), spentMicroUsd: argument('spent') })
    .onConflict(conflict =>
      conflict.column('key').doUpdateSet({
        reservedMicroUsd: sql`"budgets"."reservedMicroUsd" + "excluded"."reservedMicroUsd"`,
        spentMicroUsd: sql`"budgets"."spentMicroUsd" + "excluded"."spentMicroUsd"`,
      }),
    ),
)

const insertReservation = statement<{ task: number; key: string; microUsd: number }>((database, argument) =>
  database
    .insertInto('reservations')
    .values({ task: argument('task'), key: argument('key'), microUsd: argument('microUsd'), settledMicroUsd: null }),
)

const settle = statement<{ task: number; spentMicroUsd: number }, { key: string; microUsd: number }>((database, argument) =>
  database
    .updateTable('reservations')
    .set({ settledMicroUsd: argument('spentMicroUsd') })
    .where('task', '=', argument('task'))
    .where('settledMicroUsd', 'is', null)
    .returning(['key', 'microUsd']),
)
