import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { foldTask, type NewEvent } from '../../domain/index.ts'
import { type App, openApp } from './open-app.ts'

let app: App
beforeEach(async () => {
  app = await openApp()
})
afterEach(() => app.close())

async function say(body: string) {
  await app.comment(body)
  await app.take()
}
const append = async (taskId: string, ...events: NewEvent[]) => {
  const expectedSeq = (await app.ledger.task(taskId))?.lastSeq ?? 0
  const appended = await app.ledger.append({ taskId, attempt: 1, actor: 'worker-1', at: app.clock.now, expectedSeq, events })
  expect(appended.kind).toBe('appended')
}
async function begin(taskId: string) {
  const lease = { owner: 'worker-1', now: app.clock.now, leaseUntil: app.clock.now + 3_600_000, recoveriesMax: 5, deadOwners: [] }
  await app.ledger.claimTask(taskId, lease)
  await append(taskId, { type: 'attempt.started', commandId: `${taskId}:a`, payload: { owner: 'worker-1', recovers: null } })
}
const end = (taskId: string) =>
  append(taskId, { type: 'task.ended', commandId: `${taskId}:e`, payload: { outcome: 'succeeded', reason: '', summary: '' } })
const effectsOf = async (taskId: string) =>
  Object.entries(foldTask(await app.ledger.readEvents(taskId)).effects).map(([id, { state }]) => `${id.slice(taskId.length + 1)} ${state}`)

test('a task that has to wait is shown with what is ahead of it, one that has not is not', async () => {
  await say('/grok fix')
  await say('/grok fix once more')
  await app.send()
  expect([await effectsOf('t_1'), await effectsOf('t_2')]).toEqual([
    ['reaction:1 confirmed'],
    ['reaction:1 confirmed', 'progress:1 confirmed'],
  ])
  const base = (await app.simulator.github.refs('octo/parser'))['refs/heads/main']?.slice(0, 7)
  expect(app.ours()).toEqual([
    [
      '**grok fix** — queued, 1 run ahead in this repository',
      '',
      `Asked by @mona. Base \`main\` at \`${base}\`. \`/grok cancel\` stops it`,
      `<sub>as of ${new Date(app.clock.now).toISOString().slice(11, 16)} UTC</sub>`,
    ].join('\n'),
  ])
})

test('where there are pages, the one of a public repository’s task is linked', async () => {
  app.intake.link = (taskId, acceptedAt) => `https://grok.example/r/${taskId}?k=${acceptedAt}`
  await say('/grok fix')
  await say('/grok fix once more')
  await app.send()
  const page = `https://grok.example/r/t_2?k=${(await app.ledger.task('t_2'))?.acceptedAt}`
  expect(app.ours()[0]).toContain(`. [Run page](${page}) · \`/grok cancel\` stops it`)
})

test('the page of a private one’s is not: it may keep its record to itself', async () => {
  app.intake.link = () => 'https://grok.example/r/t_2'
  const repository = app.simulator.github.state.repositories.get('octo/parser')
  if (repository) repository.private = true
  await say('/grok fix')
  await say('/grok fix once more')
  await app.send()
  expect(app.ours().join()).toMatch(/queued, 1 run ahead(?!.*grok\.example)/s)
})

test('how long it takes is said once there are runs of the repository to judge by', async () => {
  await say('/grok fix')
  await begin('t_1')
  app.clock.now += 120_000
  await end('t_1')
  await say('/grok fix')
  await say('/grok fix')
  await begin('t_2')
  await say('/grok fix')
  await app.send()
  expect(app.ours().map(body => body.split('\n')[0])).toEqual([
    '**grok fix** — queued, 1 run ahead in this repository, about 2 min',
    '**grok fix** — queued, 2 runs ahead in this repository, about 4 min',
  ])
})

test('a question has none, and neither has what ended before it was said to wait', async () => {
  await say('/grok fix')
  await say('/grok ask why?')
  await say('/grok fix')
  expect([await effectsOf('t_2'), await effectsOf('t_3')]).toEqual([
    ['reaction:1 prepared'],
    ['reaction:1 prepared', 'progress:1 prepared'],
  ])
  await begin('t_1')
  await end('t_1')
  await begin('t_2')
  await end('t_2')
  await begin('t_3')
  await end('t_3')
  await app.send()
  expect([await effectsOf('t_3'), app.ours()]).toEqual([['reaction:1 confirmed', 'progress:1 rejected'], []])
})

describe('what happens to the task while its comment waits for its turn', () => {
  /** Once, before the turn of the comment comes. */
  function whileItWaits(happen: () => Promise<void>) {
    const { pace } = app.outbox.github
    let waits: 'not yet' | 'now' | 'no more' = 'not yet'
    const begin: typeof pace.begin = (installationId, wish, limits) => {
      if (wish.kind !== 'courtesy' || waits !== 'not yet') return pace.begin(installationId, wish, limits)
      waits = 'now'
      return { kind: 'wait', ms: 1 }
    }
    app.outbox.github = { ...app.outbox.github, pace: { ...pace, begin } }
    app.outbox.sleep = async () => {
      if (waits === 'now') await happen()
      if (waits === 'now') waits = 'no more'
      return 'slept'
    }
  }
  beforeEach(async () => {
    await say('/grok fix')
    await say('/grok fix once more')
    await begin('t_1')
    await end('t_1')
  })

  test('it ends: nobody is told any more that it waits', async () => {
    whileItWaits(async () => {
      await begin('t_2')
      await end('t_2')
    })
    await app.send()
    expect([await effectsOf('t_2'), app.ours()]).toEqual([['reaction:1 confirmed', 'progress:1 rejected'], []])
  })

  test('it begins: its worker goes on in the comment, which is still made', async () => {
    whileItWaits(() => begin('t_2'))
    await app.send()
    expect([await effectsOf('t_2'), app.ours().length]).toEqual([['reaction:1 confirmed', 'progress:1 confirmed'], 1])
  })
})

test('a comment that was on its way when its task ended does not stay at "queued", also when GitHub is away in between', async () => {
  await say('/grok fix')
  await say('/grok fix once more')
  await begin('t_1')
  await end('t_1')
  const { github } = app.simulator
  github.fail({ method: 'POST', path: /\/issues\/1\/comments$/, fault: { kind: 'cut', when: 'after' } })
  github.fail({ method: 'PATCH', path: /\/issues\/comments\//, fault: { kind: 'status', status: 500 }, times: 9 })
  const { mint } = app.outbox.github
  let isEnded = false
  app.outbox.github = {
    ...app.outbox.github,
    async mint(request) {
      if (app.ours().length > 0 && !isEnded) {
        isEnded = true
        await begin('t_2')
        await end('t_2')
      }
      return await mint(request)
    },
  }
  await app.send()
  expect([await effectsOf('t_2'), app.ours().length]).toEqual([
    ['reaction:1 confirmed', 'progress:1 confirmed', 'progress:2 dispatched'],
    1,
  ])
  github.clearFaults()
  app.clock.now += 61_000
  await app.send()
  expect([await effectsOf('t_2'), app.ours()]).toEqual([
    ['reaction:1 confirmed', 'progress:1 confirmed', 'progress:2 confirmed'],
    ['**grok fix** — ended: succeeded'],
  ])
})

test('a delivery that is taken again shows nothing twice', async () => {
  await say('/grok fix')
  await say('/grok fix')
  const [delivery] = (await app.ledger.pendingDeliveries(1)) ?? []
  expect(delivery).toBeUndefined()
  const payload = app.simulator.github.payload.issueComment('created', { repo: 'octo/parser', commentId: lastComment() })
  const body = Buffer.from(JSON.stringify(payload))
  await app.ledger.recordDelivery({ id: 'd-again', event: 'issue_comment', action: 'created', body, receivedAt: app.clock.now })
  await app.take()
  await app.send()
  expect([app.ours().length, (await app.ledger.tasks({ limit: 9 })).length]).toEqual([1, 2])
})

const lastComment = () => Math.max(...(app.simulator.github.state.repositories.get('octo/parser')?.comments.keys() ?? []))
