import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { foldTask, type TaskState } from '../../domain/index.ts'
import type { Fault } from '../../simulator/index.ts'
import { nextTurn, sampleFiles } from './scenes.ts'
import { openStage, type Stage, waitForEnd } from './stage.ts'

const timeout = 120_000
/** Short everywhere but between two looks: whoever waits that out is seen. */
const operator = {
  limits: { readBackGapMs: 60_000, writeGapMs: 0, leaseMs: 1_500, sweepMs: 300, livenessMs: 100, deliveryDrainMs: 50, retryWaitMs: 200 },
}
const readLagMs = 3_000

/** A stage at the moment when the POST of the pull request has met its fault. */
async function openAtPull(fault: Fault, work: (stage: Stage, server: Awaited<ReturnType<Stage['serve']>>) => Promise<void>) {
  const stage = await openStage({ script: nextTurn, files: sampleFiles, operator })
  try {
    const server = await stage.serve()
    const handle = stage.simulator.github.fail({ method: 'POST', path: /\/pulls$/, fault })
    await stage.comment('/grok fix')
    for (const until = Date.now() + 60_000; handle.hits() === 0 && Date.now() < until; ) await sleep(10)
    expect(handle.hits()).toBe(1)
    await work(stage, server)
  } finally {
    await stage.close()
  }
}

const pulls = ({ simulator }: Stage) =>
  [...(simulator.github.state.repositories.get('octo/parser')?.issues.values() ?? [])].filter(issue => issue.pull)
const effectsOf = (state: TaskState | null) =>
  Object.values(state?.effects ?? {})
    .filter(effect => effect.kind === 'push' || effect.kind === 'pull-request')
    .map(effect => `${effect.kind} ${effect.state}`)
async function fixOf({ ledger }: Stage): Promise<TaskState> {
  const fix = (await ledger.tasks({ needsWorker: true, limit: 1 }))[0]
  return foldTask(await ledger.readEvents(fix?.taskId ?? ''))
}
async function settledFix(stage: Stage): Promise<TaskState> {
  for (const until = Date.now() + 20_000; Date.now() < until; await sleep(50)) {
    const state = await fixOf(stage)
    if (Object.values(state.effects).every(effect => effect.state === 'confirmed' || effect.state === 'rejected')) return state
  }
  return await fixOf(stage)
}

test('a cancel while the pull request is being opened comes too late: what was opened is settled and said', { timeout }, async () => {
  await openAtPull({ kind: 'delay', ms: 1_500 }, async stage => {
    await stage.comment('/grok cancel')
    await waitForEnd(stage.ledger, 30_000)
    const state = await fixOf(stage)
    expect([state.outcome?.outcome, effectsOf(state), pulls(stage).length]).toEqual([
      'succeeded',
      ['push confirmed', 'pull-request confirmed'],
      1,
    ])
    expect(state.cancel).not.toBe(null)
  })
})

test('a cancel after the answer was lost ends the task at once, says what is not known, and the sweep finds it', { timeout }, async () => {
  await openAtPull({ kind: 'cut', when: 'after' }, async stage => {
    stage.simulator.github.setReadLag(readLagMs)
    await sleep(500)
    const askedAt = Date.now()
    await stage.comment('/grok cancel')
    await waitForEnd(stage.ledger, 30_000)
    expect(Date.now() - askedAt).toBeLessThan(5_000)
    const ended = (await fixOf(stage)).outcome
    expect([ended?.outcome, ended?.reason, ended?.delivered]).toEqual([
      'cancelled',
      'cancelled by @mona',
      'it is not known whether the pull request was opened',
    ])
    stage.simulator.github.setReadLag(0)
    const state = await settledFix(stage)
    expect([effectsOf(state), pulls(stage).length]).toEqual([['push confirmed', 'pull-request confirmed'], 1])
  })
})

test('SIGTERM in the gap between two looks hands the task back at once, and the next process opens no second one', {
  timeout,
}, async () => {
  await openAtPull({ kind: 'cut', when: 'after' }, async (stage, server) => {
    stage.simulator.github.setReadLag(readLagMs)
    await sleep(500)
    const askedAt = Date.now()
    server.process.kill('SIGTERM')
    expect(await server.exited).toEqual({ code: 0, signal: null })
    expect(Date.now() - askedAt).toBeLessThan(5_000)
    expect(effectsOf(await fixOf(stage))).toEqual(['push confirmed', 'pull-request dispatched'])
    stage.simulator.github.setReadLag(0)
    await stage.serve()
    const state = await waitForEnd(stage.ledger, 40_000)
    expect([state?.outcome?.outcome, effectsOf(state), pulls(stage).length]).toEqual([
      'succeeded',
      ['push confirmed', 'pull-request confirmed'],
      1,
    ])
  })
})
