import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Octokit } from '@octokit/rest'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { appLimits } from '../../app/limits.ts'
import { createReceiver } from '../../app/receiver.ts'
import { createDeliverySweep, type DeliverySweepPorts, startDeliverySweep } from '../../app/sweep-deliveries.ts'
import { openOutboxLead } from '../../cli/outbox-lead.ts'
import { defaultLimits, type LimitValues } from '../../config-schema/index.ts'
import { createGitHubApp, listHookDeliveries, redeliver } from '../../github/index.ts'
import { type Ledger, openSqliteLedger } from '../../ledger/index.ts'
import { type Simulator, startSimulator } from '../../simulator/index.ts'
import { type Logger, silentLogger } from '../../telemetry/index.ts'

let simulator: Simulator
let asApp: Octokit
let ledger: Ledger
let door: Server
let warned: string[]
let sweep: () => Promise<void>
let ports: DeliverySweepPorts
const folder = mkdtempSync(path.join(tmpdir(), 'grokbot-sweep-'))
const clock = { now: 0 }
let limits: LimitValues
let ledgers = 0
/** Where nobody listens. */
const nowhere = 'http://127.0.0.1:1/webhook'
const listing = 'GET /app/hook/deliveries'
const redelivering = 'POST /app/hook/deliveries/{delivery_id}/attempts'
const at = () => `http://127.0.0.1:${(door.address() as AddressInfo).port}/webhook`

beforeAll(async () => {
  simulator = await startSimulator({ folder: path.join(folder, 'github') })
  const { url, appId, appPrivateKey: privateKey, webhookSecret } = simulator.github
  asApp = createGitHubApp({ apiUrl: url, appId: String(appId), privateKey, timeoutMs: 5_000 }).api(null)
  door = createReceiver(
    { secret: webhookSecret, deliveryBytesMax: 1_000_000, paths: ['/webhook'] },
    {
      recordDelivery: delivery => ledger.recordDelivery(delivery),
      onDelivery: () => undefined,
      now: () => clock.now,
      logger: silentLogger,
    },
  ).listen(0, '127.0.0.1')
  await once(door, 'listening')
})
afterAll(async () => {
  await new Promise(done => door.close(done))
  await simulator.close()
  rmSync(folder, { recursive: true, force: true })
})
beforeEach(() => {
  clock.now = Date.now()
  limits = defaultLimits()
  ledger = openSqliteLedger({ dataDir: path.join(folder, `data-${++ledgers}`), durability: 'durable', clock: () => clock.now })
  warned = []
  const logger = { ...silentLogger, warn: (_fields: object, words: string) => void warned.push(words), info: () => undefined } as Logger
  ports = {
    leads: () => true,
    list: cursor => listHookDeliveries(asApp, cursor),
    redeliver: id => redeliver(asApp, id),
    ledger,
    limits: () => limits,
    now: () => clock.now,
    logger,
  }
  const run = createDeliverySweep(ports)
  sweep = async () => {
    await run(new AbortController().signal)
    await simulator.github.webhooksSettled()
  }
})
afterEach(async () => {
  const { github } = simulator
  github.clearFaults()
  github.setWebhook(null)
  github.state.deliveries.length = 0
  github.state.requests.length = 0
  await ledger.close()
})

const asked = (route: string) => simulator.github.requests(route).length
/** A delivery GitHub tried to bring once, or as often as is said. */
async function fails(given: { event?: string; action?: string; id?: string } = {}) {
  const { event = 'issue_comment', action = 'created', id } = given
  return await simulator.github.deliver({ event, payload: { action }, to: nowhere, ...(id ? { id } : {}) })
}
const stored = async () => (await ledger.pendingDeliveries(1_000)).map(({ id }) => id)

describe('a delivery that could not be brought', () => {
  test('is asked for again, the oldest first, and is stored under its own id', async () => {
    const guids = [(await fails()).guid, (await fails({ event: 'issues', action: 'opened' })).guid]
    simulator.github.setWebhook(at())
    await sweep()
    expect(await stored()).toEqual(guids)
    clock.now += 10 * limits.deliveriesSweepMs
    await sweep()
    expect(asked(redelivering)).toBe(2)
  })
  test('is asked for after growing waits while nobody is there to take it', async () => {
    simulator.github.setWebhook(nowhere)
    await fails()
    const times: number[] = []
    for (let minutes = 0; minutes <= 160; minutes += 5) {
      const before = asked(redelivering)
      await sweep()
      if (asked(redelivering) > before) times.push(minutes)
      clock.now += limits.deliveriesSweepMs
    }
    expect(times).toEqual([0, 5, 15, 35, 75, 155])
    // Each time what came of the last time.
    const attempts = simulator.github.state.deliveries.map(({ id }) => String(id))
    expect(simulator.github.requests(redelivering).map(({ url }) => url.split('/').at(-2))).toEqual(attempts.slice(0, -1))
  })
  test('is the newest attempt of its GUID, and is dropped when GitHub does not have that any more', async () => {
    const { guid } = await fails()
    const { id } = await fails({ id: guid })
    simulator.github.fail({ route: redelivering, fault: { kind: 'status', status: 404 } })
    await sweep()
    expect(simulator.github.requests(redelivering).map(({ url }) => url.split('/').at(-2))).toEqual([String(id)])
    clock.now += 10 * limits.deliveriesSweepMs
    await sweep()
    expect([asked(redelivering), warned]).toEqual([1, ['GitHub does not bring a failed delivery again']])
  })
  test('is asked for no more once it is too old, however often it failed again', async () => {
    simulator.github.setWebhook(nowhere)
    await fails()
    await sweep()
    clock.now += limits.deliveriesLookBackMs + 60_000
    await sweep()
    expect(asked(redelivering)).toBe(1)
  })
})

describe('nothing is asked for', () => {
  test.each([
    ['of an event that is not ours', { event: 'push' }],
    ['of an action that is not ours', { action: 'edited' }],
  ])('%s', async (_, given) => {
    await fails(given)
    await sweep()
    expect(asked(redelivering)).toBe(0)
  })
  test('that is in the ledger: the answer was lost and not the delivery', async () => {
    const { guid } = await fails()
    await ledger.recordDelivery({ id: guid, event: 'issue_comment', action: 'created', body: Buffer.from('{}'), receivedAt: 1 })
    await sweep()
    expect(asked(redelivering)).toBe(0)
  })
  test('that another attempt brought, before or after the one that failed, to whatever ledger', async () => {
    const elsewhere = createServer((_, response) => response.writeHead(200).end()).listen(0, '127.0.0.1')
    onTestFinished(() => void elsewhere.close())
    await once(elsewhere, 'listening')
    const to = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`
    const first = await fails()
    await simulator.github.deliver({ event: 'issue_comment', payload: { action: 'created' }, to, id: first.guid })
    const second = await simulator.github.deliver({ event: 'issue_comment', payload: { action: 'created' }, to })
    await fails({ id: second.guid })
    await sweep()
    expect(asked(redelivering)).toBe(0)
  })
})

describe('the list', () => {
  /** So many deliveries of others, the last one a while ago, with room for an id between two. */
  const fill = async (count: number, gapMs = 10_000) => {
    const like = await fails({ event: 'push' })
    const { deliveries, nextId } = simulator.github.state
    deliveries.pop()
    for (let left = count; left > 0; left -= 1)
      deliveries.push({ ...like, id: nextId() && nextId(), guid: `g-${left}`, deliveredAt: like.deliveredAt - 500_000 - left * gapMs })
  }
  test('is read to its end at first, then as far as what is new', async () => {
    await fill(250)
    await sweep()
    expect(asked(listing)).toBe(3)
    await fails({ event: 'push' })
    await sweep()
    expect(asked(listing)).toBe(4)
  })
  test('is read no further back than it may be', async () => {
    await fill(250)
    limits.deliveriesLookBackMs = 400_000
    await sweep()
    expect(asked(listing)).toBe(1)
  })
  test('is read in parts when it is long, the newest first, and what lies behind a part is not forgotten', async () => {
    const old = await fails()
    old.deliveredAt -= 24 * 3_600_000
    await fill(appLimits.deliveryPagesMax * 100)
    simulator.github.setWebhook(at())
    await sweep()
    expect([asked(listing), await stored()]).toEqual([appLimits.deliveryPagesMax, []])
    const { guid } = await fails()
    await sweep()
    expect(await stored()).toEqual([old.guid, guid])
    // The new ones, and what was left.
    expect(asked(listing)).toBe(appLimits.deliveryPagesMax + 2)
  })
  test('shows what ended late behind what began later, and that is found as well', async () => {
    await fill(150, 500)
    await sweep()
    const late = await fails()
    const { deliveries } = simulator.github.state
    const behind = deliveries.at(-120)
    deliveries.pop()
    if (behind) deliveries.splice(-119, 0, Object.assign(late, { id: behind.id + 1, deliveredAt: behind.deliveredAt }))
    simulator.github.setWebhook(at())
    await sweep()
    expect(await stored()).toEqual([late.guid])
  })
})

describe('GitHub that', () => {
  test.each([
    ['is away', { kind: 'status', status: 502 }],
    ['refuses the key', { kind: 'status', status: 401 }],
    ['refuses the App', { kind: 'status', status: 403 }],
    ['cuts the connection', { kind: 'cut', when: 'before' }],
  ] as const)('%s is one line in the log, and the next sweep’s', async (_, fault) => {
    const { guid } = await fails()
    simulator.github.setWebhook(at())
    simulator.github.fail({ route: listing, fault })
    await sweep()
    expect([warned, await stored()]).toEqual([['failed deliveries could not be looked for; the next sweep tries again'], []])
    await sweep()
    expect([warned.length, await stored()]).toEqual([1, [guid]])
  })
  test('asks to be left alone is, for so long', async () => {
    await fails()
    simulator.github.fail({ route: listing, fault: { kind: 'secondary-limit', retryAfterSeconds: 900 } })
    await sweep()
    clock.now += 899_000
    await sweep()
    expect(asked(listing)).toBe(1)
    clock.now += 1_001
    await sweep()
    expect(asked(listing)).toBe(2)
  })
  test('breaks off in the middle of the list is gone on with where it stopped', async () => {
    const { guid } = await fails()
    const { deliveries } = simulator.github.state
    const [old] = deliveries.splice(0)
    if (old) for (let id = 1; id <= 150; id += 1) deliveries.push({ ...old, id: old.id + id, guid: `g-${id}`, event: 'push' })
    if (old) deliveries.unshift(old)
    simulator.github.setWebhook(at())
    simulator.github.fail({ route: listing, skip: 1, fault: { kind: 'status', status: 502 } })
    await sweep()
    await sweep()
    expect([await stored(), warned.length]).toEqual([[guid], 1])
  })
})

test('ids of 64 bits come through, and back, as they are', async () => {
  const id = '3804004623172239366'
  const paths: string[] = []
  const fake = createServer((request, response) => {
    paths.push(`${request.method} ${request.url}`)
    const item = `{"id": ${id}, "guid": "g", "delivered_at": "2026-11-30T10:00:00Z", "redelivery": false, "event": "issues", "action": null, "status_code": 0}`
    response.writeHead(request.method === 'GET' ? 200 : 202, { 'content-type': 'application/json' })
    response.end(request.method === 'GET' ? `[${item}]` : '{}')
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void fake.close())
  await once(fake, 'listening')
  const api = new Octokit({ baseUrl: `http://127.0.0.1:${(fake.address() as AddressInfo).port}` })
  const { deliveries } = await listHookDeliveries(api, null)
  expect(deliveries).toEqual([
    { id, guid: 'g', deliveredAt: Date.UTC(2026, 10, 30, 10), event: 'issues', action: '', statusCode: 0, redelivery: false },
  ])
  await redeliver(api, id)
  expect(paths).toEqual(['GET /app/hook/deliveries?per_page=100', `POST /app/hook/deliveries/${id}/attempts`])
})

test('of two processes of one data folder one sweeps, at its start, and the other when that one is gone', async () => {
  limits.sweepMs = 10
  const swept: string[] = []
  const open = (name: string) => {
    const lead = openOutboxLead(path.join(folder, 'two'))
    return {
      lead,
      loop: startDeliverySweep({
        ...ports,
        leads: () => lead.leads(),
        meter: { swept: () => void swept.push(name), redelivered: () => undefined },
      }),
    }
  }
  const until = async (count: number) => {
    while (swept.length < count) await new Promise(resolve => setTimeout(resolve, 5))
  }
  const first = open('first')
  await until(1)
  const second = open('second')
  await new Promise(resolve => setTimeout(resolve, 50))
  expect(swept).toEqual(['first'])
  await first.loop.stop()
  first.lead.release()
  await until(2)
  await second.loop.stop()
  second.lead.release()
  expect(swept).toEqual(['first', 'second'])
})
