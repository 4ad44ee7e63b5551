import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Claim } from '../../ledger/index.ts'
import { executeTask } from '../../worker/execute-task.ts'
import { openWorker, type WorkerStage } from './open-worker.ts'

describe('a waiting task that was asked to end', () => {
  let stage: WorkerStage
  beforeEach(async () => {
    stage = await openWorker()
  })
  afterEach(() => stage.close())

  test.each([
    ['by a person is cancelled by them', undefined, 'asked to stop', 'cancelled', 'cancelled by uid 0', true],
    ['because its issue was closed says so', 'closed', '#1 was closed', 'cancelled', '#1 was closed', true],
    ['because of a newer one is superseded, and says nothing of its own', 'superseded', 'newer', 'superseded', 'newer', false],
  ] as const)('%s', async (_, kind, reason, outcome, words, isSaid) => {
    await stage.claimed('t_1')
    const payload = { by: 'uid 0', reason, ...(kind === undefined ? {} : { kind }) }
    await stage.append('t_1', 0, { type: 'cancel.requested', commandId: 't_1:cancel', payload })
    const claim: Claim = { taskId: 't_1', attempt: 1, owner: 'worker-1', leaseUntil: 0, recovers: null, exhausted: false }
    const state = await executeTask(claim, new AbortController().signal, stage.ports)
    expect(state.outcome).toMatchObject({ outcome, reason: words })
    const said = stage.ours()
    expect(said.map(text => text.includes(words))).toEqual(isSaid ? [true] : [])
  })
})
