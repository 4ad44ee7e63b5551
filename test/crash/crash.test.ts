import { describe, expect, test } from 'vitest'
import { eventTypes } from '../../domain/index.ts'
import { crashpointNames, crashpointPlaces } from '../../telemetry/index.ts'
import { allCases, allKills, someKills } from './points.ts'
import { rotationOf } from './rotation.ts'
import { faultsOf, runCrash } from './run-crash.ts'
import { sceneOf } from './scenes.ts'
import type { Way } from './ways.ts'

const cases = allCases()
const rotation = rotationOf()
/** The whole table takes longer than a change may wait (`./dev crash --all`); these lose most when they break, and always run. */
const always: readonly (readonly [point: string, way: Way])[] = [
  ['event.task.accepted.after', { form: 'serve', succession: 'restart' }],
  ['event.model.answered.after', { form: 'distributed', succession: 'takeover' }],
  ['event.tool.started.after', { form: 'serve', succession: 'takeover' }],
  ['effect.push.afterSend', { form: 'serve', succession: 'restart' }],
  ['effect.pull-request.afterSend', { form: 'distributed', succession: 'restart' }],
  // The app dies there, and then the worker at the end of the same task.
  ['effect.check-run.afterSend', { form: 'distributed', succession: 'restart' }],
]
const rotatingMax = 4

/** A name that is no point any more is an error: otherwise the set would grow smaller and still pass. */
const fixed = always.map(([name, way]) => {
  const found = cases.filter(({ point }) => point === name)
  if (found.length !== 1) throw new Error(`the set names ${name}, of which there are ${found.length}`)
  return { ...(found[0] as (typeof cases)[number]), way }
})
const others = cases.filter(({ point }) => !always.some(([name]) => name === point))
const kills = [...fixed, ...someKills(others, rotatingMax, rotation)].map(kill => ({ ...kill, ...kill.way }))

test('every event type has a crash case before and after it, and every named point exists once', () => {
  expect(Object.keys(sceneOf).sort()).toEqual([...eventTypes].sort())
  expect(new Set(crashpointNames).size).toBe(crashpointNames.length)
  const events = eventTypes.flatMap(type => [`event.${type}.before`, `event.${type}.after`])
  const points = [...crashpointNames, ...events]
  expect(cases.map(({ point }) => point).sort()).toEqual([...points].sort())
  expect(crashpointPlaces.flatMap(([, names]) => names).filter(name => !points.includes(name))).toEqual([])
})

test('in as many trees as there are points each of them has its turn, in both forms', () => {
  const turns = Array.from({ length: others.length }, (_, turn) => someKills(others, rotatingMax, turn)).flat()
  expect(new Set(turns.map(({ point }) => point)).size).toBe(others.length)
  expect(new Set(turns.map(({ way }) => `${way.form} ${way.succession}`)).size).toBe(4)
  expect(allKills(cases).length).toBeGreaterThan(3 * cases.length)
})

describe(`after SIGKILL the task ends once and nothing recorded is done again (rotation ${rotation})`, () => {
  test.each(kills)('$point, $form, $succession', { timeout: 120_000 }, async ({ point, scene, way }) => {
    const row = await runCrash(point, scene, way)
    const again = `./dev crash ${point}${way.form === 'distributed' ? ' --distributed' : ''}${way.succession === 'takeover' ? ' --takeover' : ''}`
    expect(faultsOf(row), `${again}\n${JSON.stringify(row)}`).toEqual([])
  })
})
