import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAppAuth } from '@octokit/auth-app'
import { Octokit } from '@octokit/rest'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Simulator, startSimulator } from '../../simulator/index.ts'
import { judge, outcome, silent } from './fixture.ts'
import type { Finding } from './official-description.ts'

let simulator: Simulator
let findings: Finding[] = []
let receiver: Server
let app: Octokit
let to: string
let status = 202
const received: { guid: string; body: string }[] = []

beforeAll(async () => {
  simulator = await startSimulator()
  findings = judge(simulator.github)
  receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    received.push({ guid: String(request.headers['x-github-delivery']), body: Buffer.concat(chunks).toString() })
    response.writeHead(status).end()
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  to = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
  const { url: baseUrl, appId, appPrivateKey: privateKey } = simulator.github
  app = new Octokit({ baseUrl, log: silent, authStrategy: createAppAuth, auth: { appId, privateKey } })
})

afterAll(async () => {
  receiver.close()
  await simulator.close()
  expect(findings).toEqual([])
})

const deliver = (n: number) => simulator.github.deliver({ event: 'ping', payload: { n }, to })
const list = (query: { per_page?: number; cursor?: string | undefined; status?: string }) =>
  app.rest.apps.listWebhookDeliveries(query as never)

test('the list goes by cursor, newest first, and by how a delivery ended', async () => {
  for (let n = 0; n < 5; n += 1) {
    status = n % 2 === 0 ? 202 : 500
    await deliver(n)
  }
  const ids = simulator.github.state.deliveries.map(each => each.id).reverse()
  const first = await list({ per_page: 2 })
  expect(first.data.map(each => each.id)).toEqual(ids.slice(0, 2))
  const cursor = /[?&]cursor=([^&>]+)[^>]*>; rel="next"/.exec(first.headers.link ?? '')?.[1]
  expect((await list({ per_page: 2, cursor })).data.map(each => each.id)).toEqual(ids.slice(2, 4))
  const last = await list({ per_page: 2, cursor: /cursor=([^&>]+)/.exec((await list({ per_page: 2, cursor })).headers.link ?? '')?.[1] })
  expect([last.data.map(each => each.id), last.headers.link]).toEqual([ids.slice(4), undefined])
  expect((await app.paginate(app.rest.apps.listWebhookDeliveries, { per_page: 2 })).map(each => each.id)).toEqual(ids)
  const failures = (await list({ status: 'failure' })).data
  expect(failures.map(each => [each.id, each.status_code])).toEqual([
    [ids[1], 500],
    [ids[3], 500],
  ])
  expect((await list({ status: 'success' })).data).toHaveLength(3)
  expect(await outcome(list({ cursor: String(ids[2]) }))).toMatchObject({ status: 400 })
  expect(await outcome(list({ status: 'failed' }))).toMatchObject({ status: 422 })
})

test('a redelivery is the same GUID and bytes again, to where the App listens by now, and is a delivery of its own', async () => {
  const { github } = simulator
  const dead = await github.deliver({ event: 'ping', payload: '{ "n": 7 }', to: 'http://127.0.0.1:1/hook' })
  expect(dead.statusCode).toBe(0)
  status = 202
  github.setWebhook(to)
  received.length = 0
  expect((await app.rest.apps.redeliverWebhookDelivery({ delivery_id: dead.id })).status).toBe(202)
  await github.webhooksSettled()
  github.setWebhook(null)
  expect(received).toEqual([{ guid: dead.guid, body: '{ "n": 7 }' }])
  const [again] = (await list({ per_page: 1 })).data
  expect(again).toMatchObject({ guid: dead.guid, redelivery: true, status_code: 202 })
  expect(again?.id).not.toBe(dead.id)
})

test('after three days a delivery is not listed, not shown and not sent again', async () => {
  const { id: delivery_id } = await deliver(1)
  // The clock itself can not go on: it would end the App's own JWT.
  for (const each of simulator.github.state.deliveries) each.deliveredAt -= 3 * 24 * 3_600_000
  await deliver(2)
  expect((await list({ per_page: 100 })).data).toHaveLength(1)
  received.length = 0
  expect((await outcome(app.rest.apps.getWebhookDelivery({ delivery_id }))).status).toBe(404)
  expect((await outcome(app.rest.apps.redeliverWebhookDelivery({ delivery_id }))).status).toBe(404)
  expect(received).toEqual([])
})
