import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type App, openApp } from './open-app.ts'

let app: App
beforeEach(async () => {
  app = await openApp()
})
afterEach(() => app.close())

const mona = { login: 'mona', type: 'User' }
let deliveries = 0

/** Stores a delivery as GitHub would have sent it for the first issue's repository. */
async function deliver(event: string, action: string, payload: object, id = `e-${++deliveries}`) {
  const { github } = app.simulator
  const repository = github.state.repositories.get('octo/parser')
  const sender = { ...mona, id: github.state.accounts.get('mona')?.id }
  const common = {
    action,
    repository: { id: repository?.id, name: 'parser', owner: { login: 'octo' } },
    installation: { id: github.installation('octo').id },
    sender,
  }
  const body = Buffer.from(JSON.stringify({ ...common, ...payload }))
  await app.ledger.recordDelivery({ id, event, action, body, receivedAt: app.clock.now })
}
const user = () => ({ ...mona, id: app.simulator.github.state.accounts.get('mona')?.id })
const taken = async () => {
  await app.take()
  return (await app.ledger.tasks({ limit: 50 })).map(({ taskId, verb, state }) => `${taskId} ${verb} ${state}`)
}
const at = (second: number) => new Date(Date.UTC(2026, 10, 30, 10, 0, second)).toISOString()

describe('an issue', () => {
  const issue = (body: string | null) => ({ id: 4_000, number: 1, title: 'a', body, created_at: at(0), user: user() })
  test('whose own text gives a command is one task, and the eyes are put on the issue', async () => {
    await deliver('issues', 'opened', { issue: issue('It crashes.\n\n/grok fix') })
    expect(await taken()).toEqual(['t_1 fix waiting'])
    await app.send()
    const reaction = app.simulator.github.requests().find(({ method, url }) => method === 'POST' && url.endsWith('/reactions'))
    expect(reaction?.url).toMatch(/\/repos\/octo\/parser\/issues\/1\/reactions$/)
  })
  test('that is closed ends what waits for it, in its own words, and nothing that was asked for later', async () => {
    await app.comment('/grok fix')
    await app.take()
    await deliver('issues', 'closed', { issue: { ...issue(null), closed_at: new Date(app.clock.now).toISOString() } })
    await app.take()
    app.clock.now += 120_000
    await app.comment('/grok fix it again')
    await app.take()
    await deliver('issues', 'closed', { issue: { ...issue(null), closed_at: new Date(app.clock.now - 120_000).toISOString() } })
    await app.take()
    const cancels = await Promise.all(
      ['t_1', 't_2'].map(async id => (await app.ledger.readEvents(id)).filter(({ type }) => type === 'cancel.requested')),
    )
    expect(cancels.map(events => events.map(({ payload }) => payload))).toEqual([
      [{ by: '@mona', reason: '#1 was closed', kind: 'closed' }],
      [],
    ])
  })
})

describe('a day’s money', () => {
  test('is set aside for each run, and the one it does not last for is told when it comes back', async () => {
    Object.assign(app.limits, { costMicroUsdMax: 2_000_000, repositoryDayMicroUsdMax: 3_000_000 })
    await app.comment('/grok fix')
    await app.comment('/grok fix the other one')
    await app.take()
    await app.send()
    expect((await app.ledger.tasks({ limit: 9 })).map(({ taskId, state, outcome }) => [taskId, state, outcome])).toEqual([
      ['t_3', 'ended', 'refused'],
      ['t_1', 'waiting', null],
    ])
    expect(app.ours()).toEqual([
      '@mona Not started: this repository has $1 left of its $3 for today, and a run may need $2; it resets at 00:00 UTC.',
    ])
  })
  test('is also a person’s own, and an answer of the app costs none of it', async () => {
    Object.assign(app.limits, { costMicroUsdMax: 2_000_000, actorDayMicroUsdMax: 2_000_000 })
    await app.comment('/grok help')
    await app.comment('/grok fix')
    await app.comment('/grok fix more')
    expect(await taken()).toEqual(['t_4 fix waiting', 't_2 fix waiting', 't_1 help waiting'])
  })
})

describe('a review', () => {
  const pull = () => ({ id: 4_000, number: 1, title: 'a', body: 'b', created_at: at(0), user: user() })
  const submitted = (body: string | null) => ({ review: { id: 42, body, submitted_at: at(1), user: user() }, pull_request: pull() })
  const remark = (id: number, body: string) => ({
    comment: { id, body, created_at: at(1), user: user(), pull_request_review_id: 42 },
    pull_request: pull(),
  })
  beforeEach(async () => {
    const { github } = app.simulator
    await github.commit({ repo: 'octo/parser', branch: 'topic', files: { 'a.txt': 'a' }, author: 'mona' })
    const opened = await github.openPull({ repo: 'octo/parser', author: 'mona', title: 'a', head: 'topic' })
    number = opened.number
  })
  let number = 0
  const onPull = <Given extends object>(given: Given) => ({ ...given, pull_request: { ...pull(), number } })

  test('Q66: with the same command in its text and in three remarks is one request', async () => {
    await deliver('pull_request_review', 'submitted', onPull(submitted('/grok fix')))
    for (const id of [50, 51, 52]) await deliver('pull_request_review_comment', 'created', onPull(remark(id, '/grok fix')))
    expect(await taken()).toEqual(['t_1 fix waiting'])
  })
  test('Q05: with two different commands is two', async () => {
    for (const [index, body] of ['/grok fix a', '/grok ask why', '/grok fix a'].entries())
      await deliver('pull_request_review_comment', 'created', onPull(remark(60 + index, body)))
    expect((await taken()).sort()).toEqual(['t_1 fix waiting', 't_2 ask waiting'])
  })
  test('without a text, which GitHub sends beside its remarks, asks for nothing', async () => {
    await deliver('pull_request_review', 'submitted', onPull(submitted(null)))
    expect(await taken()).toEqual([])
  })
  test('is answered in its thread, and the task has what it starts from', async () => {
    await deliver('pull_request_review_comment', 'created', onPull(remark(70, '/grok nope')))
    await deliver('pull_request_review_comment', 'created', onPull(remark(71, '/grok fix')))
    await app.take()
    const [refused, accepted] = await Promise.all(['t_1', 't_2'].map(id => app.ledger.readEvents(id)))
    expect(refused?.find(({ type }) => type === 'effect.prepared')?.payload).toMatchObject({
      kind: 'reply',
      intent: { threadId: 70, number },
    })
    const head = app.simulator.github.state.repositories.get('octo/parser')?.issues.get(number)?.pull?.head.sha
    expect(accepted?.[0]?.payload).toMatchObject({
      source: { kind: 'review-comment', id: 71, threadId: 71 },
      commentId: null,
      pull: { headSha: head, headRef: 'topic', fork: false, baseRef: 'main' },
    })
    expect(accepted?.flatMap(({ type, payload }) => (type === 'effect.prepared' && payload ? [payload.kind] : []))).toEqual([
      'reaction',
      'check-run',
    ])
  })
})

describe('bots', () => {
  const bot = { id: 4_711, login: 'other-bot[bot]', type: 'Bot' }
  const says = (id: number, body: string) => ({
    sender: bot,
    comment: { id, body, created_at: at(id), user: bot },
    issue: { id: 1, number: 1, title: 'a', body: 'b', created_at: at(0), user: user() },
  })
  test('start nothing unless they are listed by their id', async () => {
    await deliver('issue_comment', 'created', says(1, '/grok fix'))
    expect(await taken()).toEqual([])
  })
  test('A10: that are listed start two runs an hour in a thread, and no third', async () => {
    app.intake.allowedBots = [bot.id]
    for (const id of [1, 2, 3, 4]) {
      await deliver('issue_comment', 'created', says(id, `/grok fix ${id}`))
      await app.take()
    }
    expect(await taken()).toEqual(['t_2 fix waiting', 't_1 fix waiting'])
    app.clock.now += 3_600_001
    await deliver('issue_comment', 'created', says(5, '/grok fix 5'))
    expect((await taken())[0]).toBe('t_3 fix waiting')
  })
})

describe('retry', () => {
  const end = async (taskId: string, outcome: 'failed' | 'succeeded') => {
    const { now } = app.clock
    await app.ledger.claimTask(taskId, { owner: 'w', now, leaseUntil: now + 1_000, recoveriesMax: 5, deadOwners: [] })
    const row = await app.ledger.task(taskId)
    const ended = { type: 'task.ended', commandId: 'end', payload: { outcome, reason: 'x', summary: '' } } as const
    await app.ledger.append({ taskId, attempt: 1, actor: 'w', at: now, expectedSeq: row?.lastSeq ?? 0, events: [ended] })
  }
  test('gives the last command that did not succeed once more, with its words', async () => {
    await app.comment('/grok fix the parser')
    await app.take()
    await end('t_1', 'failed')
    await app.comment('/grok retry')
    await app.take()
    const [first] = await app.ledger.readEvents('t_2')
    expect(first?.payload).toMatchObject({ command: { verb: 'fix', text: 'the parser' }, retries: 't_1' })
  })
  test('has nothing to do where all went well, and says so', async () => {
    await app.comment('/grok fix')
    await app.take()
    await end('t_1', 'succeeded')
    await app.comment('/grok retry')
    await app.take()
    await app.send()
    expect(app.ours()).toEqual(['@mona Not started: no run here has failed, so there is nothing to retry.'])
  })
  test('comes from a button of our check run, each click once however often it is delivered, and from no other', async () => {
    await app.comment('/grok fix')
    await app.take()
    await end('t_1', 'failed')
    const { id } = await app.intake.github.identity()
    const run = { id: 9, external_id: 't_1', app: { id } }
    await deliver('check_run', 'rerequested', { check_run: { ...run, app: { id: id + 1 } } })
    await deliver('check_run', 'rerequested', { check_run: { ...run, external_id: 't_9' } })
    expect((await taken()).length).toBe(1)
    await deliver('check_run', 'requested_action', { check_run: run, requested_action: { identifier: 'retry' } }, 'click-1')
    await app.take()
    await deliver('check_run', 'requested_action', { check_run: run, requested_action: { identifier: 'retry' } }, 'click-1')
    expect(await taken()).toEqual(['t_2 fix waiting', 't_1 fix ended'])
  })
})

test('status says what waits, runs and ended here, in our own words', async () => {
  await app.comment('/grok fix @octocat `code`')
  await app.take()
  await app.comment('/grok status', 'lena')
  await app.take()
  await app.send()
  expect(app.ours().map(body => body.replace(/\d\d:\d\d/g, 'HH:MM'))).toEqual([
    [
      '**grok status** — 0 running, 1 waiting here',
      '',
      '- fix, asked by @mona: waiting for a worker (`t_1`)',
      '',
      '<sub>as of HH:MM UTC</sub>',
    ].join('\n'),
  ])
})
