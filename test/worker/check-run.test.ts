import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { foldTask } from '../../domain/index.ts'
import { createSweep } from '../../worker/sweep-leftovers.ts'
import { type Delivery, openDelivery } from './open-delivery.ts'
import { openWorker, type WorkerStage } from './open-worker.ts'

let stage: WorkerStage
beforeAll(async () => {
  stage = await openWorker()
  Object.assign(stage.limits, { outageTriesMax: 1, outageWaitMs: 10, progressAfterMs: 86_400_000 })
})
afterAll(() => stage.close())
const timeout = 60_000

const states = async ({ taskId }: Delivery) =>
  Object.values(foldTask(await stage.ledger.readEvents(taskId)).effects).map(({ kind, key, state }) => `${kind} ${key.at(-1)} ${state}`)
const open = (run: Delivery) => run.checkRuns().map(({ status, conclusion }) => `${status} ${conclusion}`)
/** As the next process does after the lease of a dead one. */
async function sweep() {
  stage.clock.now += stage.limits.leaseMs + 60_000
  await createSweep(stage.ports).run()
}

test('D08: it is finished before the outcome is recorded, under the name and the id that acceptance gave it', { timeout }, async () => {
  const delivery = await openDelivery(stage, { checkRun: true })
  await delivery.makeCheckRun()
  const state = await delivery.end()
  expect(delivery.checkRuns()).toEqual([
    {
      name: 'grok / fix',
      headSha: delivery.head,
      externalId: delivery.taskId,
      status: 'completed',
      conclusion: 'success',
      title: `succeeded, ${state.commit?.sha.slice(0, 7)} was pushed to feature`,
    },
  ])
  const types = (await stage.ledger.readEvents(delivery.taskId)).map(event => event.type)
  expect(types.at(-1)).toBe('task.ended')
  expect(await states(delivery)).toEqual(['check-run 1 confirmed', 'push 1 confirmed', 'comment 1 confirmed', 'check-run 2 confirmed'])
})

test('it is shown as running once there is a progress comment, and a fix that took its time has told twice', { timeout }, async () => {
  Object.assign(stage.limits, { progressAfterMs: 0, progressGapMs: 50 })
  // The stage's clock stands still, and a task is accepted at the real time.
  stage.clock.now = Date.now() + 60_000
  onTestFinished(() => void Object.assign(stage.limits, { progressAfterMs: 86_400_000 }))
  const delivery = await openDelivery(stage, { checkRun: true })
  const until = async (holds: () => boolean) => {
    for (let look = 0; look < 400 && !holds(); look++) await sleep(20)
    expect(holds()).toBe(true)
  }
  await delivery.end(async () => {
    await until(() => delivery.ours().length === 1)
    // The app comes later than the comment here.
    await delivery.makeCheckRun()
    await until(() => open(delivery)[0] === 'in_progress null')
  })
  expect(delivery.ours()).toEqual([expect.stringContaining('**grok fix** — done in'), expect.stringContaining(': pushed `')])
  expect(open(delivery)).toEqual(['completed success'])
  const made = stage.simulator.github.requests().filter(({ method, url }) => method === 'POST' && url.includes(`${delivery.repo}/issues`))
  expect(made.map(({ route }) => route)).toEqual(Array(2).fill('POST /repos/{owner}/{repo}/issues/{issue_number}/comments'))
})

test('one that the app is still making is finished by the sweep, and there is one', { timeout }, async () => {
  const delivery = await openDelivery(stage, { checkRun: true })
  await delivery.end()
  expect(await states(delivery)).toContain('check-run 2 prepared')
  await sweep()
  expect([open(delivery), (await states(delivery)).at(-1)]).toEqual([[], 'check-run 2 prepared'])
  await delivery.makeCheckRun()
  await sweep()
  expect([open(delivery), (await states(delivery)).at(-1)]).toEqual([['completed success'], 'check-run 2 confirmed'])
})

test('one that could not be finished while GitHub was away, or before the process died, is finished by the sweep', {
  timeout,
}, async () => {
  const delivery = await openDelivery(stage, { checkRun: true })
  await delivery.makeCheckRun()
  const { github } = stage.simulator
  github.fail({ method: 'PATCH', path: /check-runs/, fault: { kind: 'status', status: 500 }, times: 99 })
  const state = await delivery.end()
  expect([state.outcome?.outcome, open(delivery)]).toEqual(['succeeded', ['queued null']])
  github.clearFaults()
  await sweep()
  expect([open(delivery), (await states(delivery)).at(-1)]).toEqual([['completed success'], 'check-run 2 confirmed'])
  const before = github.requests().length
  await sweep()
  expect(
    github
      .requests()
      .slice(before)
      .map(({ method, url }) => `${method} ${url}`),
  ).toEqual([])
})

test('Q69: an answer of GitHub that is lost leaves one check run', { timeout }, async () => {
  const delivery = await openDelivery(stage, { checkRun: true })
  await delivery.makeCheckRun()
  stage.simulator.github.fail({ method: 'PATCH', path: /check-runs/, fault: { kind: 'cut', when: 'after' } })
  await delivery.end()
  expect([open(delivery), (await states(delivery)).at(-1)]).toEqual([['completed success'], 'check-run 2 confirmed'])
})

test('a task without one gets none', { timeout }, async () => {
  const delivery = await openDelivery(stage)
  await delivery.end()
  expect([delivery.checkRuns(), await states(delivery)]).toEqual([[], ['push 1 confirmed', 'comment 1 confirmed']])
})
