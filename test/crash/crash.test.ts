import { describe, expect, test } from 'vitest'
import { eventTypes } from '../../domain/index.ts'
import { crashpointNames } from '../../telemetry/index.ts'
import { allCases } from './points.ts'
import { faultsOf, runCrash } from './run-crash.ts'
import { sceneOf } from './scenes.ts'

const cases = allCases()
/** The whole table takes longer than a change may wait (`./dev crash`); these are the ones that lose most when they break. */
const shortSet = [
  'event.task.accepted.after',
  'event.model.answered.before',
  'event.model.answered.after',
  'event.tool.started.after',
  'event.session.ended.after',
  'effect.push.afterSend',
  'effect.pull-request.afterSend',
  'event.task.ended.after',
]

test('every event type has a crash case before and after it, and every named point exists once', () => {
  expect(Object.keys(sceneOf).sort()).toEqual([...eventTypes].sort())
  expect(new Set(crashpointNames).size).toBe(crashpointNames.length)
  expect(cases.length).toBeGreaterThanOrEqual(eventTypes.length * 2)
})

describe('after SIGKILL and a new start the task ends once and nothing recorded is done again', () => {
  test.each(cases.filter(({ point }) => shortSet.includes(point)))('$point', { timeout: 120_000 }, async ({ point, scene }) => {
    const row = await runCrash(point, scene)
    expect(faultsOf(row), JSON.stringify(row)).toEqual([])
  })
})
