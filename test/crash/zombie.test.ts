import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { foldTask } from '../../domain/index.ts'
import { gatherEvidence } from './gather-evidence.ts'
import { findFaults } from './oracle.ts'
import { nextTurn, sampleFiles } from './scenes.ts'
import { chainFault, leftAfterAll, openStage, type Stage, waitForEnd } from './stage.ts'

test('Q76: a process stopped for longer than its lease writes nothing after it goes on: another has the task', {
  timeout: 120_000,
}, async () => {
  const stage = await openStage({ script: nextTurn, files: sampleFiles })
  try {
    const zombie = await stage.serve()
    await stage.comment('/grok fix')
    await stage.waitForEvent('tool.settled')
    zombie.process.kill('SIGSTOP')
    const stoppedAt = Date.now()
    await stage.serve()
    const state = await waitForEnd(stage.ledger, 60_000)
    expect(state?.outcome?.outcome).toBe('succeeded')
    expect(state?.attempts.map(({ attempt, recovers }) => ({ attempt, recovers }))).toEqual([
      { attempt: 1, recovers: null },
      { attempt: 2, recovers: 1 },
    ])
    const before = await everything(stage)
    zombie.process.kill('SIGCONT')
    await zombie.logged('task lost to a newer attempt')
    expect(await everything(stage)).toEqual(before)
    const [task] = await stage.ledger.tasks({ limit: 1 })
    const events = await stage.ledger.readEvents(task?.taskId ?? '')
    const takenOver = events.findIndex(event => event.attempt === 2)
    expect(events.slice(takenOver).filter(event => event.attempt === 1)).toEqual([])
    expect(foldTask(events).seq).toBe(state?.seq)
    expect(await chainFault(stage.ledger)).toBe(null)
    // The lease, not the kernel lock, gave the task away: a stopped process still holds its lock.
    expect((state?.attempts[1]?.at ?? 0) - stoppedAt).toBeGreaterThan(1_000)
    zombie.process.kill('SIGTERM')
    await zombie.exited
    expect(await leftAfterAll(stage)).toEqual([])
  } finally {
    await stage.close()
  }
})

test('a process that wakes while another works on its task writes nothing and takes nothing from it', { timeout: 120_000 }, async () => {
  const stage = await openStage({ script: nextTurn, files: sampleFiles })
  try {
    const zombie = await stage.serve()
    await stage.comment('/grok fix')
    await stage.waitForEvent('tool.settled')
    zombie.process.kill('SIGSTOP')
    const other = await stage.serve()
    await isAtWork(stage, 2)
    zombie.process.kill('SIGCONT')
    await zombie.logged('task lost to a newer attempt')
    const state = await waitForEnd(stage.ledger, 60_000)
    expect([state?.outcome?.outcome, state?.attempts.length]).toEqual(['succeeded', 2])
    for (const { process, exited } of [zombie, other]) {
      process.kill('SIGTERM')
      await exited
    }
    expect(await leftAfterAll(stage)).toEqual([])
    expect(findFaults(await gatherEvidence(stage, { calmAt: Date.now(), disturbances: 1 }))).toEqual([])
  } finally {
    await stage.close()
  }
})

/** Resolves when that attempt has recorded more than its beginning. */
async function isAtWork({ ledger }: Stage, attempt: number): Promise<void> {
  for (const until = Date.now() + 60_000; Date.now() < until; await sleep(20)) {
    const [task] = await ledger.tasks({ limit: 1 })
    const events = await ledger.readEvents(task?.taskId ?? '')
    if (events.filter(event => event.attempt === attempt).length > 1) return
  }
  throw new Error(`attempt ${attempt} records nothing`)
}

/** What the world outside can see of the task. */
async function everything({ simulator }: Stage) {
  const repository = simulator.github.state.repositories.get('octo/parser')
  return {
    refs: await simulator.github.refs('octo/parser'),
    pulls: [...(repository?.issues.values() ?? [])].filter(issue => issue.pull).map(issue => issue.number),
    comments: [...(repository?.comments.values() ?? [])].map(comment => comment.versions.map(version => version.body)),
    writes: simulator.github.requests().filter(request => request.method !== 'GET' && !request.url.includes('access_tokens')).length,
  }
}
