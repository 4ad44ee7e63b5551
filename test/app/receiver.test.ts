import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createReadiness } from '../../app/readiness.ts'
import { createReceiver } from '../../app/receiver.ts'
import { openSqliteLedger } from '../../ledger/index.ts'
import { silentLogger } from '../../telemetry/index.ts'

const secret = 'It is a secret to everybody'
type Stored = { id: string; event: string; action: string; body: string }
let stored: Stored[] = []
let announced: string[] = []
let failStore = false
let answered: string[] = []
const server = () =>
  createReceiver(
    { secret, deliveryBytesMax: 1_000, receivingBytesMax: 3_000, paths: ['/webhook'] },
    {
      async recordDelivery({ id, event, action, body }) {
        if (failStore) throw new Error('disk full')
        if (stored.some(delivery => delivery.id === id)) return 'known'
        stored.push({ id, event, action, body: Buffer.from(body).toString('utf8') })
        return 'recorded'
      },
      onDelivery: id => announced.push(id),
      meter: { received: () => answered.push('received'), answered: answer => answered.push(answer) },
      now: () => 0,
      logger: silentLogger,
    },
  ).listen(0, '127.0.0.1')

let running = server()
beforeEach(async () => {
  stored = []
  announced = []
  failStore = false
  answered = []
  running = server()
  await once(running, 'listening')
})
afterEach(async () => {
  const closed = once(running, 'close')
  running.close()
  running.closeAllConnections()
  await closed
})

type Sent = { body: Buffer; headers?: Record<string, string | undefined>; chunksAt?: number[]; path?: string; method?: string }

async function send({ body, headers = {}, chunksAt = [], path = '/webhook', method = 'POST' }: Sent): Promise<number> {
  const all: Record<string, string | undefined> = {
    'x-github-delivery': 'd-1',
    'x-github-event': 'issue_comment',
    'x-hub-signature-256': sign(body),
    ...headers,
  }
  const call = request({
    port: (running.address() as AddressInfo).port,
    host: '127.0.0.1',
    path,
    method,
    headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)),
  })
  // Asked for before the first byte leaves: some answers come before the body is read.
  const responded = once(call, 'response')
  let from = 0
  for (const at of [...chunksAt, body.length]) {
    call.write(body.subarray(from, at))
    from = at
    await new Promise(resolve => setTimeout(resolve, 5))
  }
  call.end()
  const [response] = await responded
  response.resume()
  await once(response, 'end')
  return response.statusCode
}

const sign = (body: Buffer, key = secret) => `sha256=${createHmac('sha256', key).update(body).digest('hex')}`
const created = Buffer.from(JSON.stringify({ action: 'created', comment: { body: 'fix 😀 \u001b[0m' } }))

describe('a delivery is stored and answered 2xx', () => {
  test('with its exact bytes, once', async () => {
    expect([await send({ body: created }), await send({ body: created })]).toEqual([202, 202])
    expect(stored).toEqual([{ id: 'd-1', event: 'issue_comment', action: 'created', body: created.toString('utf8') }])
    expect(announced).toEqual(['d-1'])
    expect(answered).toEqual(['received', 'recorded', 'received', 'known'])
  })
  test('when a multi-byte character is cut between two packets', async () => {
    const at = created.indexOf(Buffer.from('😀')) + 2
    expect(await send({ body: created, chunksAt: [at] })).toBe(202)
  })
  test('when its JSON is written in an unusual way', async () => {
    const body = Buffer.from('{ "action" :\t"created", "x": "\\u001B" }')
    expect(await send({ body })).toBe(202)
    expect(stored[0]?.body).toBe(body.toString('utf8'))
  })
})

describe('a delivery is refused and not stored', () => {
  test.each([
    ['without a signature', 401, { headers: { 'x-hub-signature-256': undefined } }],
    ['with only the old signature', 401, { headers: { 'x-hub-signature-256': undefined, 'x-hub-signature': 'sha1=0' } }],
    ['with a signature of another secret', 401, { headers: { 'x-hub-signature-256': sign(created, 'other') } }],
    ['with a short signature', 401, { headers: { 'x-hub-signature-256': 'sha256=00' } }],
    ['with a signature in capitals', 401, { headers: { 'x-hub-signature-256': sign(created).toUpperCase() } }],
    ['without a delivery id', 400, { headers: { 'x-github-delivery': undefined } }],
    ['with a path as its delivery id', 400, { headers: { 'x-github-delivery': '../../x' } }],
    ['on another path', 404, { path: '/other' }],
    ['with another method', 405, { method: 'PUT' }],
  ] as const)('%s: %i', async (_, status, extra) => {
    expect(await send({ body: created, ...extra } as Sent)).toBe(status)
    expect(stored).toEqual([])
  })
  test('re-encoded after it was signed', async () => {
    const other = Buffer.from(created.toString('utf8').replace('\\u001b', '\\u001B'))
    expect(await send({ body: other, headers: { 'x-hub-signature-256': sign(created) } })).toBe(401)
  })
  test('larger than the limit', async () => {
    const body = Buffer.from(JSON.stringify({ action: 'created', text: 'x'.repeat(2_000) }))
    expect(await send({ body })).toBe(413)
  })
  test('that is no JSON', async () => {
    expect(await send({ body: Buffer.from('action=created') })).toBe(400)
  })
  test('with 503 while the ledger can not store it', async () => {
    failStore = true
    expect(await send({ body: created })).toBe(503)
    expect(announced).toEqual([])
  })
})

test.each(['edited', 'deleted'])('a %s comment is answered and forgotten', async action => {
  expect(await send({ body: Buffer.from(JSON.stringify({ action })) })).toBe(202)
  expect(stored).toEqual([])
})

test('a receiver without a secret does not start', () => {
  const nothing = {
    recordDelivery: async () => 'known' as const,
    onDelivery: () => undefined,
    now: () => 0,
    logger: silentLogger,
  }
  for (const empty of ['', '  \n'])
    expect(() => createReceiver({ secret: empty, deliveryBytesMax: 1, paths: [] }, nothing)).toThrow('webhook secret')
})

test('what every refusal was is told apart, and so is a sender that goes away in the middle', async () => {
  const large = Buffer.from(JSON.stringify({ action: 'created', text: 'x'.repeat(2_000) }))
  await send({ body: created, headers: { 'x-hub-signature-256': undefined } })
  await send({ body: created, headers: { 'x-github-event': undefined } })
  await send({ body: large })
  await send({ body: Buffer.from(JSON.stringify({ action: 'edited' })) })
  failStore = true
  await send({ body: created })
  const gone = request({ port: (running.address() as AddressInfo).port, host: '127.0.0.1', path: '/webhook', method: 'POST' })
  gone.on('error', () => undefined)
  gone.write('{')
  while (answered.length < 11) await new Promise(resolve => setTimeout(resolve, 5))
  gone.destroy()
  while (answered.length < 12) await new Promise(resolve => setTimeout(resolve, 5))
  expect(answered.filter(each => each !== 'received')).toEqual([
    'unsigned',
    'malformed',
    'too-large',
    'not-served',
    'not-stored',
    'cut-off',
  ])
})

describe('bodies that begin to come in and never end', () => {
  const begin = (headers: Record<string, string>) => {
    const { port } = running.address() as AddressInfo
    const open = Array.from({ length: 3 }, () => {
      const call = request({ port, host: '127.0.0.1', path: '/webhook', method: 'POST', headers: { 'content-length': 1_000, ...headers } })
      call.on('error', () => undefined)
      return call
    })
    // All but the last byte, so that each of them is held: three of them are all there is room for.
    for (const call of open) call.write(Buffer.alloc(999))
    onTestFinished(() => {
      for (const call of open) call.destroy()
    })
    return open
  }
  const until = async (holds: () => Promise<boolean>) => {
    while (!(await holds())) await new Promise(resolve => setTimeout(resolve, 5))
  }
  test('are refused before they fill the memory, and then there is room again', async () => {
    const open = begin({ 'x-hub-signature-256': 'sha256=of somebody who says to be GitHub' })
    await until(async () => (await send({ body: created })) === 503)
    expect(stored).toEqual([])
    for (const call of open) call.destroy()
    await until(async () => (await send({ body: created })) === 202)
  })
  test('are not held at all without a signature, so that they are in nobody’s way', async () => {
    begin({})
    await new Promise(resolve => setTimeout(resolve, 100))
    expect(await send({ body: created })).toBe(202)
  })
  test('are ended by the server after twice the time GitHub waits', () => {
    expect([running.headersTimeout, running.requestTimeout]).toEqual([10_000, 20_000])
  })
})

describe('readiness', () => {
  const open = () => {
    const dataDir = mkdtempSync(path.join(tmpdir(), 'grokbot-ready-'))
    const ledger = openSqliteLedger({ dataDir, durability: 'durable', clock: () => 0, limits: { busyTimeoutMs: 20 } })
    onTestFinished(async () => {
      await ledger.close()
      rmSync(dataDir, { recursive: true, force: true })
    })
    const said = { caughtUp: true, leaving: false, now: 0 }
    const { caughtUp, leaving, now } = { caughtUp: () => said.caughtUp, leaving: () => said.leaving, now: () => said.now }
    const probes: string[] = []
    const counted = { probeWrite: (owner: string) => ledger.probeWrite(owner).then(() => void probes.push(owner)) }
    return { said, probes, dataDir, notReady: createReadiness({ ledger: counted, owner: 'serve-1', caughtUp, leaving, now }) }
  }
  test('is a ledger that can be written, asked at most once a second', async () => {
    const { said, probes, dataDir, notReady } = open()
    expect([await notReady(), probes]).toEqual([null, ['serve-1']])
    said.now = 999
    expect([await notReady(), probes]).toEqual([null, ['serve-1']])
    const holder = new Database(path.join(dataDir, 'ledger.db'))
    holder.prepare('begin immediate').run()
    said.now = 1_000
    expect(await notReady()).toBe('the ledger can not be written')
    holder.close()
    said.now = 2_000
    expect([await notReady(), probes]).toEqual([null, ['serve-1', 'serve-1']])
  })
  test('is none before what was stored is taken, nor once the process goes', async () => {
    const { said, notReady } = open()
    said.caughtUp = false
    expect(await notReady()).toBe('what was stored before the start is still being taken')
    said.leaving = true
    expect(await notReady()).toBe('the process is going')
  })
})
