import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Evidence } from './evidence.ts'
import { faultKinds, findFaults } from './oracle.ts'
import { plants } from './plants.ts'
import { rotationOf } from './rotation.ts'
import { type CutRow, type CutStage, openCutStage, type PlannedCut, roadNames, runCut, someCuts } from './run-cuts.ts'

const rotation = rotationOf()
const rotatingMax = 10
/** Git's own ways to break, which no answer with a status stands for. */
const always: readonly PlannedCut[] = [
  { road: 'fix', cut: { request: 'POST /octo/parser.git/git-upload-pack#1', kind: 'half' } },
  { road: 'pull', cut: { request: 'POST /octo/parser.git/git-receive-pack#1', kind: 'after' } },
]

let stage: CutStage
let clean: CutRow[]
let evidence: Evidence
/** One stage bears them all: nothing dies here, and each task is in a thread of its own. */
beforeAll(async () => {
  stage = await openCutStage()
  clean = []
  for (const road of roadNames) clean.push(await runCut(stage, road, null))
  evidence = clean.at(-1)?.evidence as Evidence
}, 120_000)
afterAll(() => stage.close())

test('undisturbed roads have no fault', () => {
  expect(clean.map(({ road, faults }) => ({ road, faults }))).toEqual(roadNames.map(road => ({ road, faults: [] })))
})

test('every kind of fault is planted', () => {
  expect([...new Set(plants.map(({ kind }) => kind))].sort()).toEqual([...faultKinds].sort())
})

test.each(plants)('the oracle finds $what', ({ kind, plant }) => {
  const spoiled = structuredClone(evidence)
  plant(spoiled)
  expect(findFaults(spoiled).map(fault => fault.kind)).toContain(kind)
  expect(findFaults(evidence)).toEqual([])
})

test.each(Array.from({ length: always.length + rotatingMax }, (_, index) => index))(
  `cut %i of rotation ${rotation} costs time and nothing else`,
  { timeout: 120_000 },
  async index => {
    const planned = [...always, ...someCuts(clean, rotatingMax, rotation)][index]
    if (!planned) throw new Error('no such cut')
    const { road, cut } = planned
    const row = await runCut(stage, road, cut)
    expect({ met: row.met, faults: row.faults }, `./dev crash --cuts ${road} '${cut.request}' ${cut.kind}`).toEqual({
      met: true,
      faults: [],
    })
  },
)
