import { once } from 'node:events'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createOperationsServer, type OperationsPorts, whyNotAlive } from '../../app/index.ts'
import type { QueueHealth } from '../../queue/index.ts'
import { silentLogger } from '../../telemetry/index.ts'

const quiet: OperationsPorts = {
  notAlive: () => null,
  notReady: async () => null,
  queueHealth: () => ({ kind: 'in-process' }),
  metrics: async () => ({ contentType: 'text/plain; version=0.0.4', text: 'up 1\n' }),
  metricsToken: null,
}
const given: OperationsPorts = { ...quiet }
const server = createOperationsServer(given, silentLogger)
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => new Promise(done => server.close(done)))
beforeEach(() => void Object.assign(given, quiet))

async function ask(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<[number | undefined, string]> {
  const call = request({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', path, headers, method, agent: false }).end()
  const [response] = await once(call, 'response')
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return [response.statusCode, Buffer.concat(chunks).toString()]
}
const redis = (state: 'up' | 'connecting' | 'refused', heardAt: number | null = 0): QueueHealth => ({
  kind: 'redis',
  state,
  reason: 'the password is wrong',
  heardAt,
  waiting: null,
})

describe('/readyz', () => {
  test('says whether deliveries may come, or why not', async () => {
    expect(await ask('/readyz')).toEqual([200, 'ready\n'])
    given.notReady = async () => 'the ledger can not be written'
    expect(await ask('/readyz')).toEqual([503, 'not ready: the ledger can not be written\n'])
  })
  test.each(['up', 'connecting', 'refused'] as const)('is ready whatever Redis is, and says so, and no more than so: %s', async state => {
    given.queueHealth = () => redis(state)
    expect(await ask('/readyz')).toEqual([200, `ready; redis: ${state}\n`])
  })
  test('is answered 503 when that can not be found out', async () => {
    given.notReady = () => Promise.reject(new Error('no'))
    expect(await ask('/readyz')).toEqual([503, 'it can not be said now\n'])
  })
})

describe('/healthz', () => {
  test('is the process’s own word, by GET and by HEAD', async () => {
    expect([await ask('/healthz'), await ask('/healthz', {}, 'HEAD')]).toEqual([
      [200, 'ok\n'],
      [200, ''],
    ])
    given.notAlive = () => 'the intake has not turned for 120 s'
    expect([await ask('/healthz'), await ask('/healthz', {}, 'HEAD')]).toEqual([
      [503, 'not alive: the intake has not turned for 120 s\n'],
      [503, ''],
    ])
  })
  const alive = (queue: QueueHealth, turnedAt = 100_000) =>
    whyNotAlive({
      loops: [
        { name: 'the intake', turnedAt: () => 100_000 },
        { name: 'the look for tasks', turnedAt: () => turnedAt },
      ],
      queueHealth: () => queue,
      windowMs: 60_000,
      now: 150_000,
    })
  test.each<[string, string | null, QueueHealth, number?]>([
    ['all has gone round', null, { kind: 'in-process' }],
    ['a loop has not', 'the look for tasks has not turned for 60 s', { kind: 'in-process' }, 89_999],
    ['Redis was heard of', null, redis('up', 90_000)],
    ['Redis is said to be up and was not heard of', 'the queue has not been heard of for 60 s', redis('up', 89_999)],
    ['Redis is said to be up and was never heard of', 'the queue has not been heard of for 60 s', redis('up', null)],
    ['Redis is away, which no restart would mend', null, redis('connecting', 0)],
    ['Redis refuses', null, redis('refused', null)],
  ])('%s', (_, why, queue, turnedAt) => {
    expect(alive(queue, turnedAt)).toBe(why)
  })
})

describe('/metrics', () => {
  test('is for callers of this machine', async () => {
    expect(await ask('/metrics')).toEqual([200, 'up 1\n'])
  })
  test.each(['x-forwarded-for', 'forwarded', 'via', 'x-real-ip'])('is not for what a proxy of this machine passes on: %s', async name => {
    expect((await ask('/metrics', { [name]: '127.0.0.1' }))[0]).toBe(403)
  })
  test('is for nobody without the token once there is one', async () => {
    given.metricsToken = 'a-token-of-the-operator'
    const statuses = await Promise.all(
      [{}, { authorization: 'Bearer a-token' }, { authorization: 'a-token-of-the-operator' }].map(
        async headers => (await ask('/metrics', headers))[0],
      ),
    )
    expect(statuses).toEqual([401, 401, 401])
    expect(await ask('/metrics', { authorization: 'Bearer a-token-of-the-operator', 'x-forwarded-for': '203.0.113.1' })).toEqual([
      200,
      'up 1\n',
    ])
  })
  test('is not there where nothing is measured', async () => {
    given.metrics = null
    expect((await ask('/metrics'))[0]).toBe(404)
  })
})

test('nothing else is answered at that door', async () => {
  expect([(await ask('/'))[0], (await ask('/webhook', {}, 'POST'))[0], (await ask('/healthz', {}, 'POST'))[0]]).toEqual([404, 404, 404])
})
