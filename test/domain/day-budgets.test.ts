import { describe, expect, test } from 'vitest'
import { dayBudgets, overBudgetWords } from '../../domain/index.ts'

const limits = { repositoryDayMicroUsd: 20_000_000, actorDayMicroUsd: null }
const of = (at: string) => dayBudgets({ repositoryId: 42, actorId: 7, at: Date.parse(at), reserveMicroUsd: 2_500_000, limits })

describe('the budgets of a day', () => {
  test('are those of the repository and of the actor, and last until midnight in UTC', () => {
    expect(of('2026-11-30T14:03:00.000Z')).toEqual({
      budgets: [
        { key: 'repository:42:2026-11-30', microUsd: 2_500_000, limitMicroUsd: 20_000_000 },
        { key: 'actor:7:2026-11-30', microUsd: 2_500_000, limitMicroUsd: null },
      ],
      resetsAt: Date.parse('2026-12-01T00:00:00.000Z'),
    })
  })

  test.each([
    ['2026-12-31T23:59:59.999Z', '2026-12-31', '2027-01-01T00:00:00.000Z'],
    ['2027-01-01T00:00:00.000Z', '2027-01-01', '2027-01-02T00:00:00.000Z'],
    // Summer time ends that day in many places and changes nothing here.
    ['2026-10-25T01:30:00.000Z', '2026-10-25', '2026-10-26T00:00:00.000Z'],
    ['2028-02-28T12:00:00.000Z', '2028-02-28', '2028-02-29T00:00:00.000Z'],
  ])('at %s are of %s and reset at %s', (at, day, resetsAt) => {
    const { budgets, resetsAt: next } = of(at)
    expect({ keys: budgets.map(({ key }) => key), next }).toEqual({
      keys: [`repository:42:${day}`, `actor:7:${day}`],
      next: Date.parse(resetsAt),
    })
  })
})

describe('the words of a budget that can not bear a task', () => {
  const day = dayBudgets({
    repositoryId: 42,
    actorId: 7,
    at: 0,
    reserveMicroUsd: 2_500_000,
    limits: { repositoryDayMicroUsd: 20_000_000, actorDayMicroUsd: 4_990_000 },
  })
  test.each([
    ['repository:42:1970-01-01', 0, 'this repository has used its $20 for today; it resets at 00:00 UTC'],
    ['actor:7:1970-01-01', 0, 'you have used your $4.99 for today; it resets at 00:00 UTC'],
    [
      'repository:42:1970-01-01',
      400_000,
      'this repository has $0.40 left of its $20 for today, and a run may need $2.50; it resets at 00:00 UTC',
    ],
  ])('%s with %s left', (key, leftMicroUsd, words) => expect(overBudgetWords(day, { key, leftMicroUsd })).toBe(words))

  test('are none for a budget of another day', () => {
    expect(() => overBudgetWords(day, { key: 'actor:7:1970-01-02', leftMicroUsd: 0 })).toThrow('none of this day')
  })
})
