import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startIntakeLoop } from '../../app/index.ts'
import { takeDelivery } from '../../app/intake.ts'
import { silentLogger } from '../../telemetry/index.ts'
import { type App, openApp } from './open-app.ts'

let app: App
beforeEach(async () => {
  app = await openApp()
})
afterEach(() => app.close())

const asked = () => app.simulator.github.requests().filter(request => request.auth.kind !== 'none').length
const minting = { method: 'POST', path: /access_tokens$/ } as const

test('an owner that is not served costs no request: it is looked at before a token is made', async () => {
  app.intake.allowedOwners = ['acme']
  await app.comment('/grok fix')
  const before = asked()
  await app.take()
  expect([asked() - before, await app.ledger.pendingDeliveries(1), await app.ledger.tasks({ limit: 1 })]).toEqual([0, [], []])
})

test.each([403, 404, 422])('a delivery whose facts are refused with %i is settled: it is not asked about for ever', async status => {
  await app.comment('/grok fix')
  app.simulator.github.fail({ ...minting, fault: { kind: 'status', status }, times: 9 })
  await app.take()
  expect(await app.ledger.pendingDeliveries(1)).toEqual([])
})

test.each([401, 500])('a delivery that met a %i stays, and is taken later', async status => {
  await app.comment('/grok help')
  app.simulator.github.fail({ ...minting, fault: { kind: 'status', status } })
  await expect(app.take()).rejects.toMatchObject({ status })
  await app.take()
  expect((await app.ledger.tasks({ limit: 9 })).length).toBe(1)
})

describe('commands beyond those one comment may have', () => {
  const many = '/grok fix\n\n/grok help\n\n/grok fix it\n\n/grok fix more\n\n/grok fix most'
  const note = '2 more commands were not taken: one comment may have 3.'
  const takeAndSend = async () => {
    await app.take()
    await app.send()
  }
  test('are said in a comment of their own where the last one that was taken has no answer yet', async () => {
    await app.comment(many)
    await takeAndSend()
    expect(app.ours().filter(body => body.includes('not taken'))).toEqual([`@mona ${note}`])
    expect((await app.ledger.tasks({ limit: 9 })).length).toBe(3)
  })
  test('are said in the answer of the last one where it has one', async () => {
    await app.comment('/grok fix\n\n/grok fix it\n\n/grok help\n\n/grok fix more')
    await takeAndSend()
    expect(app.ours()).toEqual([expect.stringContaining('**grok fix** — queued, 1 run ahead'), expect.stringContaining('**grok help**')])
    expect(app.ours()[1]?.split('\n\n').at(-1)).toBe('1 more command was not taken: one comment may have 3.')
  })
  test('are said behind a refusal', async () => {
    await app.comment('/grok fix\n\n/grok nope\n\n/grok fix it\n\n/grok fix more', 'lena')
    await takeAndSend()
    // The third is refused for the reason the first was: a reaction, and the note alone.
    expect(app.ours().filter(body => body.includes('not taken'))).toEqual(['@lena 1 more command was not taken: one comment may have 3.'])
  })
  test('are none when there are none', async () => {
    await app.comment('/grok help')
    await takeAndSend()
    expect(app.ours().join()).not.toContain('not taken')
  })
})

describe('a refusal', () => {
  const say = async (body: string, author: string) => {
    await app.comment(body, author)
    await app.take()
    await app.send()
  }
  test('is said once to a person in a thread, then a reaction tells that the command was seen', async () => {
    await say('/grok fix', 'lena')
    await say('/grok fix it please', 'lena')
    await say('/grok fix it now', 'lena')
    expect([app.ours().length, app.reactions()]).toEqual([1, ['confused', 'confused']])
    expect((await app.ledger.tasks({ limit: 9 })).map(task => task.outcome)).toEqual(['refused', 'refused', 'refused'])
  })
  test('is said again for another reason, and to another person', async () => {
    await say('/grok fix', 'lena')
    await say('/grok nope', 'lena')
    await say('/grok nope', 'mona')
    expect([app.ours().length, app.reactions()]).toEqual([3, []])
  })
  test('is said again after its time, counted from when it was said and not from a reaction', async () => {
    await say('/grok fix', 'lena')
    app.clock.now += app.limits.refusalQuietMs - 1
    await say('/grok fix', 'lena')
    app.clock.now += 2
    await say('/grok fix', 'lena')
    expect([app.ours().length, app.reactions()]).toEqual([2, ['confused']])
  })
  test('is said once when its delivery is taken twice', async () => {
    await app.comment('/grok fix', 'lena')
    const [delivery] = await app.ledger.pendingDeliveries(1)
    await app.take()
    if (delivery) await takeDelivery(delivery, app.intake)
    await app.send()
    expect([app.ours().length, app.reactions()]).toEqual([1, []])
  })
})

describe('the loop', () => {
  const start = (limits: Partial<App['limits']> = {}) =>
    startIntakeLoop({
      intake: app.intake,
      outbox: { github: app.outbox.github, markerKey: app.outbox.markerKey },
      leadsOutbox: () => true,
      limits: () => ({ ...app.limits, deliveryDrainMs: 10, ...limits }),
      logger: silentLogger,
    })
  const until = async (holds: () => boolean | Promise<boolean>) => {
    for (let look = 0; look < 300 && !(await holds()); look++) await new Promise(resolve => setTimeout(resolve, 10))
    expect(await holds()).toBe(true)
  }

  test('asks again about a delivery that fails after growing waits, and takes the others meanwhile', async () => {
    await app.comment('/grok help')
    const fault = app.simulator.github.fail({ ...minting, fault: { kind: 'status', status: 500 }, times: 1 })
    const loop = start()
    await until(() => fault.hits() === 1)
    await app.comment('/grok help')
    loop.wake()
    await until(() => app.ours().length === 1)
    expect((await app.ledger.pendingDeliveries(9)).length).toBe(1)
    app.clock.now += app.limits.retryWaitMs
    await until(() => app.ours().length === 2)
    await loop.stop()
  })
  test('tries what is older than its time once more after a fault, and only then gives it up', async () => {
    await app.comment('/grok help')
    app.clock.now += app.limits.effectGiveUpMs + 1
    const fault = app.simulator.github.fail({ ...minting, fault: { kind: 'status', status: 502 }, times: 1 })
    const loop = start()
    await until(() => fault.hits() === 1)
    await until(async () => {
      // The fault is counted before its failure is: the wait may begin after this.
      app.clock.now += app.limits.retryWaitMs
      return (await app.ledger.tasks({ limit: 1 })).length === 1
    })
    await app.comment('/grok help')
    app.clock.now += app.limits.effectGiveUpMs + 1
    app.simulator.github.fail({ ...minting, fault: { kind: 'status', status: 502 }, times: 9_999 })
    await until(async () => {
      app.clock.now += app.limits.retryWaitMs
      return (await app.ledger.pendingDeliveries(1)).length === 0
    })
    await loop.stop()
    expect((await app.ledger.tasks({ limit: 9 })).length).toBe(1)
  })
  test('is caught up when what the process before it left was looked at, also while GitHub is away', async () => {
    await app.comment('/grok help')
    app.simulator.github.fail({ ...minting, fault: { kind: 'status', status: 500 }, times: 99 })
    const loop = start()
    expect(loop.caughtUp()).toBe(false)
    await until(() => loop.caughtUp())
    await loop.stop()
  })
  test('is caught up as soon as one of many was found to need GitHub again', async () => {
    const body = Buffer.from('{}')
    await app.comment('/grok help')
    const [{ body: help } = { body }] = await app.ledger.pendingDeliveries(1)
    for (let index = 0; index < 150; index += 1)
      await app.ledger.recordDelivery({
        id: `m-${index}`,
        event: 'issue_comment',
        action: 'created',
        body: help,
        receivedAt: app.clock.now,
      })
    const fault = app.simulator.github.fail({ ...minting, fault: { kind: 'status', status: 500 }, times: 999 })
    const loop = start()
    await until(() => loop.caughtUp())
    await loop.stop()
    expect(fault.hits()).toBeLessThan(60)
  })
  test('takes a command while an effect waits for GitHub, and a stop ends that wait at once', async () => {
    await app.comment('/grok help')
    app.simulator.github.fail({ method: 'POST', path: /\/issues\/1\/comments$/, fault: { kind: 'secondary-limit', retryAfterSeconds: 60 } })
    const loop = start()
    await until(() => app.reactions().length === 1)
    await app.comment('/grok help')
    loop.wake()
    await until(async () => (await app.ledger.tasks({ limit: 9 })).length === 2)
    const startedAt = Date.now()
    await loop.stop()
    expect(Date.now() - startedAt).toBeLessThan(1_000)
  })
})
