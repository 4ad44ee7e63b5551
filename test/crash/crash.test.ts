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

/** A name that is no point any more is an error: otherwise the set would grow smaller and still pass. */
const short = shortSet.map(name => {
  const found = cases.filter(({ point }) => point === name)
  if (found.length !== 1) throw new Error(`the short set names ${name}, of which there are ${found.length}`)
  return found[0] as (typeof cases)[number]
})

test('every event type has a crash case before and after it, and every named point exists once', () => {
  expect(Object.keys(sceneOf).sort()).toEqual([...eventTypes].sort())
  expect(new Set(crashpointNames).size).toBe(crashpointNames.length)
  const events = eventTypes.flatMap(type => [`event.${type}.before`, `event.${type}.after`])
  expect(cases.map(({ point }) => point).sort()).toEqual([...crashpointNames, ...events].sort())
})

describe('after SIGKILL and a new start the task ends once and nothing recorded is done again', () => {
  test.each(short)('$point', { timeout: 120_000 }, async ({ point, scene }) => {
    const row = await runCrash(point, scene)
    expect(faultsOf(row), JSON.stringify(row)).toEqual([])
  })
})

/** One point of each process, with Redis between them: the app dies with a reaction on its way, the worker with an answer just recorded. */
describe('the same where an app and a worker are processes of their own', () => {
  test.each(['effect.reaction.afterSend', 'event.model.answered.after'])('%s', { timeout: 120_000 }, async point => {
    const row = await runCrash(point, undefined, 'distributed')
    expect(faultsOf(row), JSON.stringify(row)).toEqual([])
  })
})
