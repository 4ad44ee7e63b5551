import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { foldTask } from '../../domain/index.ts'
import { sampleFiles, scenes } from './scenes.ts'
import { leftAfterAll, openStage, type Stage, waitForEnd } from './stage.ts'

const timeout = 120_000
const graceMs = 5_000

async function stateOf({ ledger }: Stage) {
  const [task] = await ledger.tasks({ limit: 1 })
  return foldTask(await ledger.readEvents(task?.taskId ?? ''))
}

test.each([
  ['while the model is asked', 'model.requested'],
  ['while a tool runs', 'tool.started'],
  ['while the checks run', 'change.collected'],
] as const)('SIGTERM %s hands the task back, and the next process ends it', { timeout }, async (_, event) => {
  const stage = await openStage({ script: scenes.fix.script, files: sampleFiles })
  try {
    const first = await stage.serve()
    await stage.comment('/grok fix')
    await stage.waitForEvent(event)
    const askedAt = Date.now()
    first.process.kill('SIGTERM')
    expect(await first.exited).toEqual({ code: 0, signal: null })
    expect(Date.now() - askedAt).toBeLessThan(graceMs)
    expect(await leftAfterAll(stage)).toEqual([])
    const between = await stateOf(stage)
    expect([between.outcome, between.cancel]).toEqual([null, null])
    await stage.serve()
    const state = await waitForEnd(stage.ledger, 60_000)
    expect(state?.outcome?.outcome).toBe('succeeded')
    expect(state?.attempts.length).toBe(2)
  } finally {
    await stage.close()
  }
})

test('an operator file that breaks while serve runs is logged, and the run goes on with the last good one', { timeout }, async () => {
  const stage = await openStage({ script: scenes.fix.script, files: sampleFiles })
  try {
    const server = await stage.serve()
    await stage.comment('/grok fix')
    await stage.waitForEvent('model.requested')
    stage.writeOperator('limits: [broken')
    await sleep(500)
    const state = await waitForEnd(stage.ledger, 60_000)
    expect(state?.outcome?.outcome).toBe('succeeded')
    expect(server.log()).toContain('operator settings are broken')
  } finally {
    await stage.close()
  }
})
