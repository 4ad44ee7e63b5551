import { existsSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { defaultLimits } from '../../config-schema/index.ts'
import { nextTurn, sampleFiles } from '../crash/scenes.ts'
import { openStage, type Stage, waitForEnd } from '../crash/stage.ts'

/**
 * The waits of production, once each, as they are: every other suite sets them shorter. What a default promises is the
 * product's word, so the figures stand here again.
 */
const { leaseMs, livenessMs, readBackGapMs, sweepMs } = defaultLimits()
const timeout = 90_000
/** A loaded machine starts processes late. */
const slackMs = 6_000

/** A stage without short limits, in which one serve works at a task. */
async function atWork(): Promise<{ stage: Stage; worker: Awaited<ReturnType<Stage['serve']>> }> {
  const stage = await openStage({ script: nextTurn, files: sampleFiles, operator: { limits: {} } })
  const worker = await stage.serve()
  await stage.comment('/grok fix')
  await stage.waitForEvent('tool.settled')
  return { stage, worker }
}

/** Milliseconds from now until a second serve, which is up already, begins the second attempt. */
async function takenOverAfter(stage: Stage, from: number): Promise<number> {
  const state = await waitForEnd(stage.ledger, 60_000)
  expect([state?.outcome?.outcome, state?.attempts.length]).toEqual(['succeeded', 2])
  return (state?.attempts[1]?.at ?? 0) - from
}

describe.concurrent('with its default', () => {
  it('livenessMs: a killed worker is noticed long before its lease ends', { timeout }, async () => {
    expect(livenessMs).toBe(300)
    const { stage, worker } = await atWork()
    try {
      await stage.serve()
      const killedAt = Date.now()
      worker.process.kill('SIGKILL')
      expect(await takenOverAfter(stage, killedAt)).toBeLessThan(livenessMs + slackMs)
    } finally {
      await stage.close()
    }
  })

  it('leaseMs: a stopped worker keeps its task until its lease ends, and no longer', { timeout }, async () => {
    expect(leaseMs).toBe(15_000)
    const { stage, worker } = await atWork()
    try {
      await stage.serve()
      worker.process.kill('SIGSTOP')
      // It renews every fifth of it, so the last renewal may be that old.
      const waited = await takenOverAfter(stage, Date.now())
      expect(waited).toBeGreaterThan(leaseMs - leaseMs / 5 - 1_000)
      expect(waited).toBeLessThan(leaseMs + slackMs)
    } finally {
      await stage.close()
    }
  })

  it('sweepMs: what a dead attempt left is removed at the next sweep', { timeout }, async () => {
    expect(sweepMs).toBe(10_000)
    const stage = await openStage({ script: nextTurn, files: sampleFiles, operator: { limits: {} } })
    try {
      await stage.serve()
      const startedAt = Date.now()
      const leftover = path.join(stage.dataDir, 'runs', 't_01ARZ3NDEKTSV4RRFFQ69G5FAV', '1')
      mkdirSync(leftover, { recursive: true })
      while (existsSync(path.dirname(leftover)) && Date.now() - startedAt < sweepMs + slackMs) await sleep(50)
      const waited = Date.now() - startedAt
      expect(waited).toBeGreaterThan(sweepMs - 2_000)
      expect(waited).toBeLessThan(sweepMs + slackMs)
    } finally {
      await stage.close()
    }
  })

  it('readBackGapMs: what may have arrived is listed twice, that far apart, before it is sent again', { timeout }, async () => {
    expect(readBackGapMs).toBe(5_000)
    const stage = await openStage({ script: nextTurn, files: sampleFiles, operator: { limits: {} } })
    try {
      stage.simulator.github.fail({ method: 'POST', path: /\/pulls$/, fault: { kind: 'cut', when: 'before' } })
      await stage.serve()
      await stage.comment('/grok fix')
      expect((await waitForEnd(stage.ledger, 60_000))?.outcome?.outcome).toBe('succeeded')
      const asked = stage.simulator.github.requests().filter(({ url }) => /\/pulls(?:\?|$)/.test(url))
      expect(asked.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET', 'POST'])
      const [, first, second] = asked.map(({ at }) => at)
      expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(readBackGapMs)
    } finally {
      await stage.close()
    }
  })
})
