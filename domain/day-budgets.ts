import { money } from './figures.ts'

type Limits = {
  /** What tasks of one repository may cost on one day, in millionths of a dollar; null: it is only counted. */
  repositoryDayMicroUsd: number | null
  /** What tasks that one person asked for may cost on one day, in whatever repositories; null: it is only counted. */
  actorDayMicroUsd: number | null
}
type Reservation = { key: string; microUsd: number; limitMicroUsd: number | null }

export type DayBudgets = {
  /** What `acceptTask` is to set aside; the repository's first. */
  budgets: Reservation[]
  /** UTC milliseconds: the next midnight in UTC, from when on both are empty again. */
  resetsAt: number
}

/**
 * The budgets of a task that is accepted at that moment: of its repository and of its actor, for the UTC day. A task that
 * goes on over midnight is settled in the budgets of the day it was accepted on.
 */
export function dayBudgets(of: {
  repositoryId: number
  actorId: number
  /** UTC milliseconds. */
  at: number
  /** What the task may cost at most, as far as that is known; 0: nothing is set aside, and only what was spent counts. */
  reserveMicroUsd: number
  limits: Limits
}): DayBudgets {
  const { repositoryId, actorId, at, reserveMicroUsd: microUsd, limits } = of
  const day = new Date(at).toISOString().slice(0, 10)
  return {
    budgets: [
      { key: `repository:${repositoryId}:${day}`, microUsd, limitMicroUsd: limits.repositoryDayMicroUsd },
      { key: `actor:${actorId}:${day}`, microUsd, limitMicroUsd: limits.actorDayMicroUsd },
    ],
    resetsAt: Date.parse(`${day}T00:00:00.000Z`) + dayMs,
  }
}

const dayMs = 86_400_000

/** Why a task is not started, for the person who asked: the answer of `acceptTask` when a budget could not bear it. */
export function overBudgetWords({ budgets }: DayBudgets, { key, leftMicroUsd }: { key: string; leftMicroUsd: number }): string {
  const reservation = budgets.find(budget => budget.key === key)
  if (reservation === undefined) throw new Error(`the budget ${key} is none of this day`)
  const [who, has, its] = key.startsWith('actor:') ? ['you', 'have', 'your'] : ['this repository', 'has', 'its']
  const limit = roundMoney(reservation.limitMicroUsd ?? 0)
  if (leftMicroUsd === 0) return `${who} ${has} used ${its} ${limit} for today; it resets at 00:00 UTC`
  const need = `a run may need ${roundMoney(reservation.microUsd)}`
  return `${who} ${has} ${roundMoney(leftMicroUsd)} left of ${its} ${limit} for today, and ${need}; it resets at 00:00 UTC`
}

function roundMoney(microUsd: number): string {
  return money(microUsd).replace(/\.00$/, '')
}
