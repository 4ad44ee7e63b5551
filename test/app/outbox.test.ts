import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { sendOutbox } from '../../app/outbox.ts'
import { foldTask, type NewEvent } from '../../domain/index.ts'
import { sleepUnlessStopped } from '../../effects/index.ts'
import { type App, openApp } from './open-app.ts'

let app: App
beforeEach(async () => {
  app = await openApp()
})
afterEach(() => app.close())

const commenting = { method: 'POST', path: /\/issues\/1\/comments$/ } as const
const mints = () => app.simulator.github.requests().filter(request => request.url.endsWith('/access_tokens')).length
const removeApp = () =>
  app.simulator.github.fail({ method: 'POST', path: /access_tokens$/, fault: { kind: 'status', status: 404 }, times: 99 })
const effectsOf = async (taskId: string) =>
  Object.values(foldTask(await app.ledger.readEvents(taskId)).effects).map(({ kind, state, reason }) => [kind, state, reason])
const outcomeOf = async (taskId: string) => (await app.ledger.task(taskId))?.outcome

test('what was recorded is sent once, and its task ends', async () => {
  await app.comment('/grok help')
  await app.take()
  expect(await app.send()).toBe(1)
  expect([app.ours().length, app.reactions(), await outcomeOf('t_1')]).toEqual([1, ['eyes'], 'succeeded'])
  expect(await app.send()).toBe(0)
  expect(app.ours().length).toBe(1)
})

test('when the process is told to go, the task being sent is the last one', async () => {
  for (let comment = 0; comment < 3; comment++) await app.comment('/grok help')
  await app.take()
  const { holds } = { holds: app.outbox.github.mint }
  let mints = 0
  const github = {
    ...app.outbox.github,
    mint: (request: Parameters<typeof holds>[0]) => {
      mints += 1
      app.stopping.abort()
      return holds(request)
    },
  }
  await sendOutbox({ ...app.outbox, github })
  expect([mints, app.ours().length <= 1]).toEqual([1, true])
  expect(await app.ledger.openEffects({ attempt: 'app', states: 'in-flight', updatedBefore: app.clock.now + 1, limit: 10 })).not.toEqual([])
})

describe('what always fails', () => {
  test('is tried again after growing waits, not at every turn', async () => {
    await app.comment('/grok fix', 'lena')
    await app.take()
    app.simulator.github.fail({ method: 'POST', path: /access_tokens$/, fault: { kind: 'status', status: 500 }, times: 999 })
    const startedAt = app.clock.now
    const tries: number[] = []
    const before = mints()
    // Ten minutes of turns, each 200 ms after the one before.
    for (; app.clock.now < startedAt + 600_000; app.clock.now += 200) if ((await app.send()) > 0) tries.push(app.clock.now - startedAt)
    expect(tries.slice(0, 8)).toEqual([0, 1_000, 3_000, 7_000, 15_000, 31_000, 63_000, 123_000])
    expect(tries.length).toBeLessThan(18)
    expect(mints() - before).toBe(tries.length)
  })
  test('is sent as soon as GitHub is back and its wait is over', async () => {
    await app.comment('/grok fix', 'lena')
    await app.take()
    app.simulator.github.fail({ method: 'POST', path: /access_tokens$/, fault: { kind: 'status', status: 500 } })
    expect([await app.send(), await app.send()]).toEqual([1, 0])
    app.clock.now += 1_000
    expect([await app.send(), app.ours().length, await outcomeOf('t_1')]).toEqual([1, 1, 'refused'])
  })
  test('waits as long as GitHub asks for', async () => {
    await app.comment('/grok fix', 'lena')
    await app.take()
    app.simulator.github.fail({ ...commenting, fault: { kind: 'primary-limit', resetInSeconds: 1_800 } })
    expect(await app.send()).toBe(1)
    app.clock.now += 1_790_000
    expect(await app.send()).toBe(0)
    app.clock.now += 20_000
    expect([await app.send(), app.ours().length]).toEqual([1, 1])
  })
  test('keeps nobody else waiting, however many of it there are', async () => {
    for (let count = 0; count < 120; count++) await addTask(`o_${count}`, 'prepared')
    const away = app.simulator.github.fail({ method: 'POST', path: /access_tokens$/, fault: { kind: 'status', status: 500 }, times: 999 })
    for (let turn = 0; turn < 3; turn++) await app.send()
    expect(away.hits()).toBe(120)
    app.simulator.github.clearFaults()
    await app.comment('/grok fix', 'lena')
    await app.take()
    expect([await app.send(), app.ours().length]).toEqual([1, 1])
  })
  test('is given up after its time', async () => {
    await app.comment('/grok fix', 'lena')
    await app.take()
    app.simulator.github.fail({ method: 'POST', path: /access_tokens$/, fault: { kind: 'status', status: 500 }, times: 999 })
    await app.send()
    app.clock.now += app.limits.effectGiveUpMs + 1
    await app.send()
    expect(await effectsOf('t_1')).toEqual([['comment', 'rejected', 'it could not be done in time']])
    expect(await outcomeOf('t_1')).toBe('refused')
  })
})

describe('an installation that GitHub asks to wait', () => {
  const sent: string[] = []
  beforeEach(async () => {
    const { github } = app.simulator
    await github.addRepository({ owner: 'acme', name: 'other' })
    github.setPermission('acme/other', 'mona', 'write')
    await github.openIssue({ repo: 'acme/other', author: 'mona', title: 'a', body: 'b' })
    app.intake.allowedOwners = null
    app.outbox.sleep = ms => sleepUnlessStopped(ms, app.stopping.signal)
    Object.defineProperty(app.clock, 'now', { get: () => Date.now() })
    sent.length = 0
    github.observe(({ method, path, params, status }) => {
      if (method === 'POST' && path.endsWith('/issues/{issue_number}/comments') && status === 201) sent.push(params['owner'] ?? '')
    })
  })
  const limitOcto = (retryAfterSeconds: number) =>
    app.simulator.github.fail({
      method: 'POST',
      path: /octo\/parser\/issues\/1\/comments$/,
      fault: { kind: 'secondary-limit', retryAfterSeconds },
    })
  async function sayAtAcme(author: 'mona' | 'lena') {
    const { github } = app.simulator
    const comment = await github.comment({ repo: 'acme/other', number: 1, author, body: '/grok fix' })
    const payload = github.payload.issueComment('created', { repo: 'acme/other', commentId: comment.id })
    const body = Buffer.from(JSON.stringify(payload))
    await app.ledger.recordDelivery({ id: 'd-acme', event: 'issue_comment', action: 'created', body, receivedAt: app.clock.now })
    await app.take()
  }

  test('keeps no other waiting, not even what comes in meanwhile; its own come later, in their order', async () => {
    const limited = limitOcto(3)
    await app.comment('/grok fix', 'lena')
    await app.take()
    const sending = app.send()
    await vi.waitUntil(() => limited.hits() === 1, { interval: 5, timeout: 20_000 })
    await app.comment('/grok help')
    await app.take()
    await sayAtAcme('lena')
    expect([await sending, sent]).toEqual([2, ['acme', 'octo']])
    expect([await outcomeOf('t_1'), await outcomeOf('t_2'), await outcomeOf('t_3')]).toEqual(['refused', null, 'refused'])
    expect([await app.send(), sent, await outcomeOf('t_2')]).toEqual([1, ['acme', 'octo', 'octo'], 'succeeded'])
  })

  test('hides no other, however much it has, and nothing of it is at work after a stop', async () => {
    const limited = limitOcto(60)
    for (let count = 0; count < 230; count++) await addTask(`o_${count}`, 'prepared')
    const sending = app.send()
    await vi.waitUntil(() => limited.hits() === 1, { interval: 5, timeout: 20_000 })
    // It waits for a worker: only its open effect brings it to the outbox.
    await sayAtAcme('mona')
    await vi.waitUntil(() => app.reactions().length === 1, { interval: 5, timeout: 20_000 })
    app.stopping.abort()
    await sending
    const asked = app.simulator.github.requests().length
    await sleepUnlessStopped(500, new AbortController().signal)
    expect([sent, app.simulator.github.requests().length]).toEqual([[], asked])
  })
})

describe('what GitHub refuses for good', () => {
  test.each([404, 403, 422])('%i when it is sent: it is rejected with the reason, and never tried again', async status => {
    await app.comment('/grok fix', 'lena')
    await app.take()
    const fault = app.simulator.github.fail({ ...commenting, fault: { kind: 'status', status }, times: 99 })
    await app.send()
    app.clock.now += 3_600_000
    expect(await app.send()).toBe(0)
    expect(fault.hits()).toBe(1)
    expect(await effectsOf('t_1')).toEqual([['comment', 'rejected', expect.stringContaining(`GitHub said ${status}`)]])
    expect(await outcomeOf('t_1')).toBe('refused')
  })
  test('no token, because the App was removed: the same', async () => {
    await app.comment('/grok help')
    await app.take()
    const removed = removeApp()
    await app.send()
    app.clock.now += 3_600_000
    expect(await app.send()).toBe(0)
    expect(removed.hits()).toBe(2)
    expect(await outcomeOf('t_1')).toBe('failed')
  })
})

describe('what was sent and nobody lets us look for', () => {
  /** Every answer is lost, and the list is refused: nobody can say whether it is there. */
  async function loseOne() {
    app.simulator.github.fail({ ...commenting, fault: { kind: 'cut', when: 'after' } })
    return app.simulator.github.fail({ method: 'GET', path: /\/issues\/1\/comments/, fault: { kind: 'status', status: 403 }, times: 2 })
  }
  test('is unknown, ends its task, and is settled when it can be read again', async () => {
    await app.comment('/grok fix', 'lena')
    await app.take()
    await loseOne()
    await app.send()
    expect(await effectsOf('t_1')).toEqual([['comment', 'unknown', expect.stringContaining('403')]])
    expect(await outcomeOf('t_1')).toBe('refused')
    app.clock.now += 1_000
    await app.send()
    app.clock.now += 60_000
    await app.send()
    expect(await effectsOf('t_1')).toEqual([['comment', 'confirmed', '']])
    expect(app.ours().length).toBe(1)
  })
  test('takes no place of what is to be sent, however many and however old', async () => {
    for (let count = 0; count < 120; count++) await addTask(`u_${count}`, 'unknown')
    app.clock.now += app.limits.effectGiveUpMs + 1
    // Its task waits for a worker: only its open effect brings it to the outbox.
    await app.comment('/grok fix')
    await app.take()
    await app.send()
    expect(app.reactions()).toEqual(['eyes'])
  })
})

describe('exactly one comment', () => {
  test('when the answer of the POST is 502 although it was made', async () => {
    await app.comment('/grok fix', 'lena')
    await app.take()
    app.simulator.github.fail({ ...commenting, fault: { kind: 'html', status: 502, done: true }, times: 99 })
    await app.send()
    expect([app.ours().length, await effectsOf('t_1')]).toEqual([1, [['comment', 'confirmed', '']]])
  })
  test('when it is sent by two outboxes at once', async () => {
    await app.comment('/grok fix', 'lena')
    await app.take()
    await Promise.all([app.send(), app.send()])
    app.clock.now += 60_000
    await app.send()
    expect(app.ours().length).toBe(1)
  })
})

/** A refusal's comment as it stands in the ledger in one of its states. */
async function addTask(taskId: string, state: 'prepared' | 'unknown') {
  const { ledger, clock } = app
  const [, installation] = [...app.simulator.github.state.installations][0] ?? []
  const repository = { id: 1, owner: 'octo', name: 'parser', url: '', visibility: 'public', defaultBranch: 'main' } as const
  const installationId = installation?.id ?? 0
  const repositoryId = Number(app.simulator.github.state.repositories.get('octo/parser')?.id)
  const intent = { owner: 'octo', repo: 'parser', repositoryId, installationId, number: 1, since: '2020-01-01T00:00:00Z', body: 'x' }
  const effectId = `${taskId}:comment:1`
  const common = { command: { verb: 'x', text: '', index: 0 }, requester: { login: 'lena', id: 1 }, repository, installationId }
  const settled = { effectId, state: 'unknown', remote: {}, reason: '', foundByReadBack: false } as const
  const after: NewEvent[] = [
    { type: 'effect.dispatched', commandId: effectId, payload: { effectId, try: 1 } },
    { type: 'effect.settled', commandId: effectId, payload: settled },
    { type: 'task.ended', commandId: taskId, payload: { outcome: 'refused', reason: '', summary: '' } },
  ]
  await ledger.acceptTask({
    taskId,
    meaningKey: taskId,
    laneKey: taskId,
    tenantKey: 'i1',
    priority: 0,
    needsWorker: false,
    actor: 'github:1',
    commandId: taskId,
    acceptedAt: clock.now,
    first: { type: 'task.refused', payload: { ...common, subject: null, commentId: null, reason: 'role', words: '' } },
    more: [
      { type: 'effect.prepared', commandId: effectId, payload: { effectId, kind: 'comment', key: 'comment-1', intent } },
      ...(state === 'unknown' ? after : []),
    ],
    budgets: [],
  })
}
