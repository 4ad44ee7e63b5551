import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startIntakeLoop } from '../../app/index.ts'
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
  test('is caught up when what the process before it left was looked at, also while GitHub is away', async () => {
    await app.comment('/grok help')
    app.simulator.github.fail({ ...minting, fault: { kind: 'status', status: 500 }, times: 99 })
    const loop = start()
    expect(loop.caughtUp()).toBe(false)
    await until(() => loop.caughtUp())
    await loop.stop()
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
