import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { takeDelivery } from '../../app/intake.ts'
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
    const says = (id: number, body: string) => ({ comment: { id, body, created_at: at(id), user: user() }, issue: issue(null) })
    await deliver('issue_comment', 'created', says(1, '/grok fix'))
    await app.take()
    await deliver('issue_comment', 'created', says(9, '/grok fix it again'))
    await app.take()
    for (const _ of [1, 2]) await deliver('issues', 'closed', { issue: { ...issue(null), closed_at: at(5) } })
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
  test('A10: and no third of one comment', async () => {
    app.intake.allowedBots = [bot.id]
    await deliver('issue_comment', 'created', says(1, '/grok fix a\n\n/grok fix b\n\n/grok fix c'))
    expect(await taken()).toEqual(['t_2 fix waiting', 't_1 fix waiting'])
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
  test('from a button is as old as its delivery, so that a cancel which came behind it reaches it', async () => {
    await app.comment('/grok fix')
    await app.take()
    await end('t_1', 'failed')
    const { id } = await app.intake.github.identity()
    const check_run = { id: 9, external_id: 't_1', app: { id } }
    await deliver('check_run', 'requested_action', { check_run, requested_action: { identifier: 'retry' } })
    app.clock.now += 10_000
    await app.comment('/grok cancel')
    app.clock.now += 60_000
    await app.take()
    expect((await app.ledger.readEvents('t_2')).map(({ type }) => type)).toContain('cancel.requested')
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

describe('a cancel', () => {
  const asked = async (id: string) => (await app.ledger.readEvents(id)).some(({ type }) => type === 'cancel.requested')

  test('taken twice, as after a death in between, leaves what stands below it in its own comment', async () => {
    await app.comment('/grok cancel\n\n/grok fix it')
    const [delivery] = await app.ledger.pendingDeliveries(1)
    await app.take()
    if (delivery) await takeDelivery(delivery, app.intake)
    expect([(await taken()).sort(), await asked('t_2')]).toEqual([['t_1 cancel waiting', 't_2 fix waiting'], false])
  })
  test('taken twice does so in the text of an issue and of a review too', async () => {
    const { github } = app.simulator
    await github.commit({ repo: 'octo/parser', branch: 'topic', files: { 'a.txt': 'a' }, author: 'mona' })
    const { number } = await github.openPull({ repo: 'octo/parser', author: 'mona', title: 'a', head: 'topic' })
    const body = '/grok cancel\n\n/grok fix it'
    const thread = { id: 4_000, number: 1, title: 'a', body, created_at: at(0), user: user() }
    await deliver('issues', 'opened', { issue: thread })
    const review = { id: 42, body, submitted_at: at(1), user: user() }
    await deliver('pull_request_review', 'submitted', { review, pull_request: { ...thread, number, body: 'b' } })
    const stored = await app.ledger.pendingDeliveries(2)
    await app.take()
    for (const delivery of stored) await takeDelivery(delivery, app.intake)
    expect(await Promise.all(['t_2', 't_4'].map(asked))).toEqual([false, false])
  })
  test('counts where it stands, also when there was one before it in its text', async () => {
    await app.comment('/grok cancel please\n\n/grok fix a\n\n/grok cancel')
    await app.take()
    expect(await asked('t_2')).toBe(true)
  })
  test('that was refused stays so, whoever its author has become when it is taken again', async () => {
    await app.comment('/grok fix')
    await app.take()
    await app.comment('/grok cancel', 'lena')
    const [delivery] = await app.ledger.pendingDeliveries(1)
    await app.take()
    app.simulator.github.setPermission('octo/parser', 'lena', 'write')
    if (delivery) await takeDelivery(delivery, app.intake)
    expect(await asked('t_1')).toBe(false)
  })
  test('in a review that was submitted later than its draft was written reaches what was asked for in between', async () => {
    const { github } = app.simulator
    await github.commit({ repo: 'octo/parser', branch: 'topic', files: { 'a.txt': 'a' }, author: 'mona' })
    const { number } = await github.openPull({ repo: 'octo/parser', author: 'mona', title: 'a', head: 'topic' })
    const pull = { id: 4_000, number, title: 'a', body: 'b', created_at: at(0), user: user() }
    const remark = (id: number, body: string, [drafted, submitted]: [number, number]) => ({
      comment: { id, body, created_at: at(drafted), updated_at: at(submitted), user: user(), pull_request_review_id: id },
      pull_request: pull,
    })
    await deliver('pull_request_review_comment', 'created', remark(80, '/grok fix', [3, 3]))
    await app.take()
    await deliver('pull_request_review_comment', 'created', remark(81, '/grok cancel', [1, 6]))
    await app.take()
    expect(await asked('t_1')).toBe(true)
  })
  test('reaches every run of its thread, however many wait', async () => {
    Object.assign(app.limits, { commandsPerCommentMax: 3 })
    const many = 36
    for (let index = 0; index < many; index += 1) await app.comment(`/grok fix a${index}\n\n/grok fix b${index}\n\n/grok fix c${index}`)
    await app.take()
    await app.comment('/grok cancel')
    await app.take()
    const ids = Array.from({ length: many * 3 }, (_, index) => `t_${index + 1}`)
    expect((await Promise.all(ids.map(asked))).filter(Boolean)).toHaveLength(many * 3)
  })
})

test('what was asked for before its issue was closed ends, also when both come in late', async () => {
  await app.comment('/grok fix')
  const askedAt = app.clock.now
  app.clock.now += 600_000
  const closed_at = new Date(askedAt + 5_000).toISOString()
  const issue = { id: 4_000, number: 1, title: 'a', body: 'b', created_at: at(0), user: user(), closed_at }
  await deliver('issues', 'closed', { issue })
  await app.take()
  expect((await app.ledger.readEvents('t_1')).some(({ type }) => type === 'cancel.requested')).toBe(true)
})

test('a word that is no command is a stranger’s text and stands in no header', async () => {
  await app.comment('/grok my-name-is-nobody')
  await app.take()
  expect((await app.ledger.task('t_1'))?.verb).toBe('unknown')
  await app.send()
  expect(app.ours()[0]).toContain('`/grok my-name-is-nobody` is not a command.')
})

test('what needs no worker is answered once for a comment', async () => {
  await app.comment('/grok help a\n\n/grok help b\n\n/grok status')
  expect((await taken()).sort()).toEqual(['t_1 help waiting', 't_2 status waiting'])
})

test('a refusal that is only shown by a reaction says nothing else either', async () => {
  for (let turn = 0; turn < 3; turn += 1) {
    await app.comment('/grok a\n\n/grok b\n\n/grok c\n\n/grok d', 'lena')
    await app.take()
  }
  await app.send()
  // The refusal of the first, and once what was left out of it.
  expect(app.ours()).toHaveLength(2)
})
