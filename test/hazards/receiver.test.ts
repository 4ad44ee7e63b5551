import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createReceiver } from '../../app/receiver.ts'
import { appSettings as readApp, allowedOwners as readOwners } from '../../cli/app-settings.ts'
import { UsageError } from '../../cli/exit.ts'
import { metricTable } from '../../cli/metrics/metric-table.ts'
import { readEnvironment } from '../../config-schema/index.ts'
import { type Ledger, openSqliteLedger } from '../../ledger/index.ts'
import { type Simulator, startSimulator } from '../../simulator/index.ts'
import { silentLogger } from '../../telemetry/index.ts'
import { type App, openApp } from '../app/open-app.ts'
import { grokbot } from '../cli/scene.ts'
import { startRedis } from '../queue/redis.ts'
import { percentile, sendDelivery, sendMany } from './send-deliveries.ts'
import { type Started, startProgram } from './start-program.ts'

const secret = 'It is a secret to everybody'
const repo = 'octo/parser'
const wallMs = 60_000
const folder = mkdtempSync(path.join(tmpdir(), 'grokbot-hazards-'))
const dataDir = path.join(folder, 'data')
let simulator: Simulator
let app: App
let serve: Started
let other: Started
let ledger: Ledger

const appSettings = (apiUrl: string, privateKey: string) => ({
  HOST: '127.0.0.1',
  PORT: '0',
  APP_ID: '1',
  PRIVATE_KEY: privateKey,
  WEBHOOK_SECRET: secret,
  ALLOWED_OWNERS: 'octo',
  GHE_API_URL: apiUrl,
})
const modelSettings = (url: string) => ({ OPENAI_BASE_URL: url, OPENAI_API_KEY: 'hazards-model-key-0123456789', OPENAI_MODEL: 'none' })

beforeAll(async () => {
  chmodSync(folder, 0o711)
  mkdirSync(dataDir, { mode: 0o711 })
  simulator = await startSimulator({ folder: path.join(folder, 'github'), github: { webhookSecret: secret } })
  const { github } = simulator
  for (const login of ['mona', 'lena']) github.addUser({ login })
  await github.addRepository({ owner: 'octo', name: 'parser' })
  github.setPermission(repo, 'mona', 'write')
  await github.openIssue({ repo, author: 'mona', title: 'a', body: 'b' })
  const settings = {
    ...appSettings(github.url, github.appPrivateKey),
    ...modelSettings(simulator.model.url),
    APP_ID: String(github.appId),
    GROKBOT_DATA: dataDir,
  }
  const started = await Promise.all([startProgram('serve', { settings }), startProgram('serve', { settings }), openApp()])
  serve = started[0]
  other = started[1]
  app = started[2]
  ledger = openSqliteLedger({ dataDir, durability: 'process', clock: Date.now })
}, wallMs)
afterAll(async () => {
  await Promise.all([serve?.end(), other?.end(), app?.close()])
  await ledger?.close()
  await simulator?.close()
  rmSync(folder, { recursive: true, force: true })
})

let ids = 0
const send = (body: object | Buffer, more: Partial<Parameters<typeof sendDelivery>[0]> = {}) =>
  sendDelivery({
    origin: serve.origin,
    secret,
    body: Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body)),
    id: `h-${++ids}`,
    ...more,
  })
const signed = (key: string, text: string) => `sha256=${createHmac('sha256', key).update(text).digest('hex')}`
const isStored = (id: string) => ledger.knowsDelivery(id)
async function until(holds: () => Promise<boolean>, what: string) {
  for (const end = Date.now() + 15_000; !(await holds()); await new Promise(resolve => setTimeout(resolve, 20)))
    if (Date.now() > end) throw new Error(`it never came to this: ${what}`)
}

describe('Q01: the signature is over the bytes as they came', () => {
  test.each<[string, string, number[]]>([
    ['a multi-byte character cut between two packets', '{"action":"created","comment":{"body":"fix 😀 \\u001b[0m"}}', [45]],
    ['escapes and white space nobody would write', '{ "action" :\t"created", "x": "\\u001B\\ud83d\\ude00" }\r\n', []],
    ['bytes that are no UTF-8', 'latin', []],
  ])('%s', async (_, text, chunks) => {
    const payload = text === 'latin' ? Buffer.from('{"action":"created","x":"\xe9"}', 'latin1') : Buffer.from(text)
    const { statusCode, responseBody, guid } = await simulator.github.deliver({
      event: 'issue_comment',
      payload,
      chunks,
      to: `${serve.origin}/api/github/webhooks`,
    })
    expect([statusCode, responseBody]).toEqual([202, 'recorded\n'])
    const database = new Database(path.join(dataDir, 'ledger.db'), { readonly: true })
    onTestFinished(() => void database.close())
    expect(database.prepare('select body from deliveries where deliveryId = ?').get(guid)).toEqual({ body: payload })
  })
})

describe('Q02, A06: nothing is taken without a good signature, and there is no start without a secret', () => {
  const settings = { ...appSettings('http://127.0.0.1:1', 'looked at later'), ...modelSettings('http://127.0.0.1:1') }
  test.each<[string, Record<string, string>, string]>([
    ['without a secret', { WEBHOOK_SECRET: '' }, 'set WEBHOOK_SECRET'],
    ['with a secret of spaces', { WEBHOOK_SECRET: '   ' }, 'set WEBHOOK_SECRET'],
    ['in production, for owners that nobody named', { ALLOWED_OWNERS: '', NODE_ENV: 'production' }, 'ALLOWED_OWNERS is not set'],
    ['for owners that are no names', { ALLOWED_OWNERS: ' , ' }, 'ALLOWED_OWNERS names nobody'],
    ['with a token for the figures that can be guessed', { GROKBOT_METRICS_TOKEN: 'short' }, 'GROKBOT_METRICS_TOKEN'],
  ])('a start is refused %s', (_, change, words) => {
    const read = readEnvironment({ ...settings, ...change })
    const problems: string[] = []
    if (read.kind === 'invalid') problems.push(...read.problems)
    else {
      for (const look of [readApp, readOwners]) {
        try {
          look(read.values)
        } catch (error) {
          problems.push(String(error), ...(error instanceof UsageError ? error.hints : []))
        }
      }
    }
    expect(problems.join('\n')).toContain(words)
  })
  test('a start that is refused ends with 2 and its reason, before anything listens', async () => {
    const ran = await grokbot(['serve', '--data', path.join(folder, 'refused')], { env: { ...settings, WEBHOOK_SECRET: '   ' } })
    expect([ran.exitCode, ran.stderr]).toEqual([2, expect.stringContaining('set WEBHOOK_SECRET')])
  })
  test.each<[string, Record<string, string | undefined>]>([
    ['no signature', { 'x-hub-signature-256': undefined }],
    ['only the old one', { 'x-hub-signature-256': undefined, 'x-hub-signature': 'sha1=0123456789012345678901234567890123456789' }],
    ['the old one in the place of the new', { 'x-hub-signature-256': 'sha1=0123456789012345678901234567890123456789' }],
    ['one that is too short', { 'x-hub-signature-256': 'sha256=00' }],
    ['one that is too long', { 'x-hub-signature-256': `sha256=${'0'.repeat(4_000)}` }],
    ['an empty one', { 'x-hub-signature-256': '' }],
    ['one made with another secret', { 'x-hub-signature-256': signed('another', '{"action":"created"}') }],
    ['one of the same JSON written another way', { 'x-hub-signature-256': signed(secret, '{ "action": "created" }') }],
  ])('%s: 401, and nothing is stored', async (_, headers) => {
    const { id, status } = await send({ action: 'created' }, { headers })
    expect([status, await isStored(id)]).toEqual([401, false])
  })
})

describe('Q03: a delivery is one, and a request is one', () => {
  const say = async (body: string, author = 'mona') => {
    const { github } = simulator
    const comment = await github.comment({ repo, number: 1, author, body })
    return github.payload.issueComment('created', { repo, commentId: comment.id })
  }
  test('brought to two processes of one data folder at the same time, several times each', async () => {
    const payload = await say('/grok help')
    const wish = { id: `h-${++ids}` }
    const answers = await Promise.all([serve, other, serve, other, other].map(({ origin }) => send(payload, { ...wish, origin })))
    expect(answers.map(({ status, text }) => `${status} ${text}`).sort()).toEqual([...Array(4).fill('202 known'), '202 recorded'])
    await until(async () => (await ledger.tasks({ limit: 9 })).some(({ state }) => state === 'ended'), 'the help was sent')
    expect((await ledger.tasks({ limit: 9 })).map(({ verb }) => verb)).toEqual(['help'])
  })
  test('under another id, as two hooks send it', async () => {
    const payload = await say('/grok status')
    await Promise.all([send(payload), send(payload, { origin: other.origin })])
    await until(async () => (await ledger.pendingDeliveries(9)).length === 0, 'both were taken')
    expect((await ledger.tasks({ limit: 9 })).filter(({ verb }) => verb === 'status')).toHaveLength(1)
  })
  test('25 hours later, and after its body was taken away, whatever its id', async () => {
    await app.comment('/grok help')
    const [delivery] = await app.ledger.pendingDeliveries(1)
    if (!delivery) throw new Error('it was not stored')
    await app.take()
    for (const hours of [25, 24 * 8]) {
      app.clock.now += hours * 3_600_000
      await app.ledger.pruneDeliveries(app.clock.now)
      expect(await app.ledger.recordDelivery({ ...delivery, receivedAt: app.clock.now })).toBe('known')
      expect(await app.ledger.recordDelivery({ ...delivery, id: `late-${hours}`, receivedAt: app.clock.now })).toBe('recorded')
      await app.take()
    }
    expect((await app.ledger.tasks({ limit: 9 })).length).toBe(1)
  })
})

/** A place that takes connections and never says a word. */
async function openBlackHole() {
  const sockets = new Set<Socket>()
  const server = createServer(socket => void sockets.add(socket.on('error', () => undefined))).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: () => sockets.size,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

describe('Q04, Q80: a delivery is answered when it is durable, whatever else stands still', () => {
  const comment = Buffer.from(JSON.stringify(anyComment('please have a look at this', 7)))

  test('GitHub and the model answer nothing, the worker is stopped: 300 deliveries are stored and answered 2xx', {
    timeout: wallMs,
  }, async () => {
    const hole = await openBlackHole()
    const redis = await startRedis()
    const data = path.join(folder, 'stalled')
    mkdirSync(data, { mode: 0o711 })
    const common = {
      REDIS_URL: redis.url,
      GROKBOT_DATA: data,
      ALLOWED_OWNERS: 'octo',
      HOST: '127.0.0.1',
      GROKBOT_METRICS_TOKEN: 'a-token-of-the-test',
    }
    const [receiver, worker] = await Promise.all([
      startProgram('app', { settings: { ...appSettings(hole.url, simulator.github.appPrivateKey), ...common } }),
      startProgram('worker', { settings: { ...modelSettings(hole.url), ...common }, args: ['--port', '0'] }),
    ])
    const stored = openSqliteLedger({ dataDir: data, durability: 'process', clock: Date.now })
    onTestFinished(async () => {
      await Promise.all([receiver.end(), worker.end()])
      await stored.close()
      await redis.stop()
      hole.close()
    })
    const ask = async ({ origin }: Started, what: string) => {
      const answer = await fetch(`${origin}${what}`, { headers: { authorization: 'Bearer a-token-of-the-test' } })
      return `${answer.status} ${await answer.text()}`
    }
    await until(async () => (await ask(worker, '/readyz')).includes('redis: up'), 'the worker heard of Redis')
    expect(await Promise.all([ask(worker, '/healthz'), ask(receiver, '/healthz'), ask(worker, '/api/github/webhooks')])).toEqual([
      '200 ok\n',
      '200 ok\n',
      '404 no such page\n',
    ])
    expect(namesIn(await ask(worker, '/metrics')).filter(name => !namesIn(workersOwn).includes(name))).toEqual([])
    worker.kill('SIGSTOP')
    const sent = await sendMany({ origin: receiver.origin, secret, body: comment }, 300, 30)
    expect(new Set(sent.map(({ status, text }) => `${status} ${text}`))).toEqual(new Set(['202 recorded']))
    expect((await stored.pendingDeliveries(1_000)).map(({ id }) => id).sort()).toEqual(sent.map(({ id }) => id).sort())
    expect(hole.asked()).toBeGreaterThan(0)
    const ms = sent.map(each => each.ms)
    process.stdout.write(
      `300 deliveries, 30 at a time, all else stalled: p50 ${percentile(ms, 0.5).toFixed(1)} ms, p99 ${percentile(ms, 0.99).toFixed(1)} ms\n`,
    )
    // The bell as well: it is said, and nothing is refused for it.
    await redis.kill()
    await until(async () => (await ask(receiver, '/readyz')) === '200 ready; redis: connecting\n', 'Redis was missed')
    const last = await sendDelivery({ origin: receiver.origin, secret, body: comment, id: 'last' })
    expect([last.text, await ask(receiver, '/healthz')]).toEqual(['recorded', '200 ok\n'])
    const figures = await ask(receiver, '/metrics')
    expect(figures).toContain('\ngrokbot_deliveries_answered_total{answer="recorded"} 301\n')
    expect(figures).toContain('\ngrokbot_deliveries_pending 301\n')
    expect(figures).toContain('\ngrokbot_queue{state="connecting"} 1\n')
    // A worker that comes back after that hears of Redis again, and says that it lives.
    await redis.restart()
    worker.kill('SIGCONT')
    await until(async () => (await ask(worker, '/readyz')) === '200 ready; redis: up\n', 'the worker heard of Redis again')
    expect(await ask(worker, '/healthz')).toBe('200 ok\n')
  })

  test('a ledger that is locked: 503 within the time GitHub waits, and the same delivery is taken afterwards', async () => {
    const data = path.join(folder, 'locked')
    const locked = openSqliteLedger({ dataDir: data, durability: 'durable', clock: Date.now, limits: { busyTimeoutMs: 100 } })
    const door = createReceiver(
      { secret, deliveryBytesMax: 10_000, paths: ['/api/github/webhooks'] },
      { recordDelivery: delivery => locked.recordDelivery(delivery), onDelivery: () => undefined, now: Date.now, logger: silentLogger },
    ).listen(0, '127.0.0.1')
    await once(door, 'listening')
    const origin = `http://127.0.0.1:${(door.address() as AddressInfo).port}`
    onTestFinished(async () => {
      door.close()
      door.closeAllConnections()
      await locked.close()
    })
    const holder = new Database(path.join(data, 'ledger.db'))
    holder.prepare('begin immediate').run()
    const refused = await Promise.all([1, 2, 3].map(each => sendDelivery({ origin, secret, body: comment, id: `locked-${each}` })))
    expect(refused.map(({ status }) => status)).toEqual([503, 503, 503])
    holder.close()
    const again = await Promise.all([1, 2, 3].map(each => sendDelivery({ origin, secret, body: comment, id: `locked-${each}` })))
    expect(again.map(({ status, text }) => `${status} ${text}`)).toEqual(Array(3).fill('202 recorded'))
    expect(await locked.pendingDeliveries(9)).toHaveLength(3)
  })

  test('a disk that is full: 503 for what does not fit, and what was answered 2xx is there', { timeout: wallMs }, async () => {
    const hole = await openBlackHole()
    const data = path.join(folder, 'full')
    mkdirSync(data, { mode: 0o711 })
    // A limit on the size of a file stands for the full disk; its signal is ignored, so that writing fails instead.
    const full = await startProgram('serve', {
      settings: { ...appSettings(hole.url, simulator.github.appPrivateKey), ...modelSettings(hole.url), GROKBOT_DATA: data },
      shell: `trap '' XFSZ; ulimit -f 6000; exec "$0" "$@"`,
    })
    const large = Buffer.from(JSON.stringify(anyComment('x'.repeat(500_000), 7)))
    const sent = await sendMany({ origin: full.origin, secret, body: large }, 40, 4)
    await full.end()
    hole.close()
    const after = openSqliteLedger({ dataDir: data, durability: 'process', clock: Date.now })
    onTestFinished(() => after.close())
    const taken = sent.filter(({ status }) => status === 202).map(({ id }) => id)
    expect((await after.pendingDeliveries(100)).map(({ id }) => id).sort()).toEqual(taken.sort())
    expect([taken.length > 3, new Set(sent.map(({ status }) => status))]).toEqual([true, new Set([202, 503])])
  })
})

describe('Q06: actors that are no ordinary user', () => {
  /** Comments and reactions of ours. */
  const written = () =>
    app.simulator.github.requests().filter(({ method, auth }) => method === 'POST' && auth.kind === 'installation').length
  const fix = async (login: string, type: 'User' | 'Bot' | 'Organization' | 'Mannequin', more?: () => void) => {
    const before = new Set((await app.ledger.tasks({ limit: 99 })).map(({ taskId }) => taskId))
    app.simulator.github.addUser({ login, type })
    more?.()
    await app.comment(`/grok fix for ${login}`, login)
    await app.take()
    const made = (await app.ledger.tasks({ limit: 99 })).filter(({ taskId }) => !before.has(taskId))
    expect(await app.ledger.pendingDeliveries(1)).toEqual([])
    return await Promise.all(made.map(async ({ taskId }) => (await app.ledger.readEvents(taskId))[0]?.type))
  }
  test.each([
    ['Copilot', 'Bot'],
    ['my-app[bot]', 'Bot'],
    ['left-behind', 'Mannequin'],
    ['acme', 'Organization'],
  ] as const)('%s, a %s, starts nothing, breaks nothing and is told nothing', async (login, type) => {
    const before = written()
    expect(await fix(login, type)).toEqual([])
    await app.send()
    expect(written()).toBe(before)
  })
  test('one of whom GitHub says that it is no user here is told what role is needed', async () => {
    const route = 'GET /repos/{owner}/{repo}/collaborators/{username}/permission'
    app.simulator.github.fail({ route, fault: { kind: 'status', status: 404, message: 'passer-by is not a user' } })
    expect(await fix('passer-by', 'User')).toEqual(['task.refused'])
    await app.send()
    expect(app.ours().at(-1)).toContain('needs write access here; you have none')
  })
  test('a managed user, with the mark of the company in the name, is a user like any other', async () => {
    expect(await fix('mona_corp', 'User', () => app.simulator.github.setPermission(repo, 'mona_corp', 'write'))).toEqual(['task.accepted'])
  })
})

/** A comment as GitHub sends it, of no thread that there is. */
function anyComment(body: string | null, by: number) {
  const user = { id: by, login: 'mona', type: 'User' }
  return {
    action: 'created',
    repository: { id: 1, name: 'parser', owner: { login: 'octo' } },
    installation: { id: 1 },
    sender: user,
    comment: { id: 1, body, created_at: '2026-11-30T10:00:00Z', user: user as object | null },
    issue: { id: 1, number: 1, title: 'a', body: null as string | null, created_at: '2026-11-30T10:00:00Z', user: user as object | null },
  }
}
const workersOwn = Object.keys(metricTable)
  .filter(name => !/^grokbot_(?:deliver|redeliver|commands|tasks$|tasks_waiting|effects)/.test(name))
  .map(name => `# TYPE ${name} `)
  .join('\n')
function namesIn(text: string): string[] {
  return [...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name = '']) => name)
}

describe('Q07: accounts that are gone', () => {
  const take = async (event: string, action: string, change: (payload: ReturnType<typeof anyComment>) => object) => {
    const body = Buffer.from(JSON.stringify({ ...change(anyComment('/grok fix', 7)), action }))
    await app.ledger.recordDelivery({ id: `gone-${++ids}`, event, action, body, receivedAt: app.clock.now })
    await app.take()
    return await app.ledger.pendingDeliveries(1)
  }
  test.each<[string, string, string, Parameters<typeof take>[2]]>([
    ['the author of a comment', 'issue_comment', 'created', ({ comment, ...rest }) => ({ ...rest, comment: { ...comment, user: null } })],
    ['the author of an issue', 'issues', 'opened', ({ issue, ...rest }) => ({ ...rest, issue: { ...issue, user: null } })],
    [
      'the author of a review',
      'pull_request_review',
      'submitted',
      ({ issue, comment, ...rest }) => ({
        ...rest,
        pull_request: issue,
        review: { id: 1, body: '/grok fix', submitted_at: null, user: null },
      }),
    ],
    [
      'the author of a remark in a review',
      'pull_request_review_comment',
      'created',
      ({ issue, comment, ...rest }) => ({
        ...rest,
        pull_request: issue,
        comment: { ...comment, user: null, pull_request_review_id: null },
      }),
    ],
    ['the sender', 'issue_comment', 'created', payload => ({ ...payload, sender: null })],
    [
      'the App of a check run',
      'check_run',
      'rerequested',
      ({ issue, comment, ...rest }) => ({ ...rest, check_run: { id: 1, external_id: 't_1', app: null } }),
    ],
    [
      'the owner of the repository',
      'issue_comment',
      'created',
      payload => ({ ...payload, repository: { ...payload.repository, owner: null } }),
    ],
  ])('%s: it is settled, and starts nothing', async (_, event, action, change) => {
    const before = (await app.ledger.tasks({ limit: 99 })).length
    expect(await take(event, action, change)).toEqual([])
    expect((await app.ledger.tasks({ limit: 99 })).length).toBe(before)
  })
  test('whoever wrote the issue is gone: the command of somebody else is taken, and the text is a stranger’s', async () => {
    await app.simulator.github.comment({ repo, number: 1, author: 'mona', body: '/grok fix what a ghost asked for' })
    const { id } = [...(app.simulator.github.state.repositories.get(repo)?.comments.values() ?? [])].at(-1) ?? { id: 0 }
    const payload = app.simulator.github.payload.issueComment('created', { repo, commentId: id })
    const body = Buffer.from(JSON.stringify({ ...payload, issue: { ...payload.issue, user: null } }))
    await app.ledger.recordDelivery({ id: 'ghost', event: 'issue_comment', action: 'created', body, receivedAt: app.clock.now })
    await app.take()
    const [task] = await app.ledger.tasks({ limit: 1 })
    const [first] = await app.ledger.readEvents(task?.taskId ?? '')
    expect(first).toMatchObject({ type: 'task.accepted', payload: { subject: { trusted: false } } })
  })
})

describe('Q14: bots do not start work, and we are one', () => {
  test.each([
    ['our own comment with a command in it', 'grokbot[bot]'],
    ['another bot that quotes us', 'review-bot[bot]'],
  ])('%s', async (_, login) => {
    const before = (await app.ledger.tasks({ limit: 99 })).length
    if (login !== 'grokbot[bot]') app.simulator.github.addUser({ login, type: 'Bot' })
    await app.comment('Something went wrong.\n\n/grok fix\n\n/grok help', login)
    await app.take()
    await app.send()
    expect([(await app.ledger.tasks({ limit: 99 })).length, await app.ledger.pendingDeliveries(1)]).toEqual([before, []])
  })
})

describe.each([
  ['Q15', 'edited'],
  ['Q16', 'deleted'],
])('%s: a comment that is %s', (_, action) => {
  test.each([
    ['by who wrote it', 'mona'],
    ['by somebody else', 'lena'],
  ])('%s, with commands in it: answered, not stored', async (_by, login) => {
    const payload = { ...anyComment('/grok fix\n\n/grok help', 7), action, changes: { body: { from: 'no command' } } }
    const { id, status, text } = await send({ ...payload, sender: { ...payload.sender, login } })
    expect([status, text, await isStored(id)]).toEqual([202, 'not one of our events', false])
  })
})

test('what a process says of itself is in the table, and what it did is counted apart', async () => {
  const before = await metrics()
  await send({ action: 'edited' })
  await send({ action: 'created' }, { headers: { 'x-hub-signature-256': 'sha256=00' } })
  await send(anyComment('no command', 7))
  await send({ ...anyComment('/grok fix', 7), sender: null })
  await until(async () => (await ledger.pendingDeliveries(1)).length === 0, 'all was taken')
  const after = await metrics()
  expect(
    [...after.keys()].map(key => key.replace(/\{.*/, '')).every(name => name.replace(/_(?:bucket|sum|count)$/, '') in metricTable),
  ).toBe(true)
  const more = (key: string) => (after.get(key) ?? 0) - (before.get(key) ?? 0)
  expect({
    received: more('grokbot_deliveries_received_total'),
    recorded: more('grokbot_deliveries_answered_total{answer="recorded"}'),
    notServed: more('grokbot_deliveries_answered_total{answer="not-served"}'),
    unsigned: more('grokbot_deliveries_answered_total{answer="unsigned"}'),
    timed: more('grokbot_delivery_answer_seconds_count'),
    ready: after.get('grokbot_ready'),
    pending: after.get('grokbot_deliveries_pending'),
    sweeps: (after.get('grokbot_delivery_sweeps_total{result="done"}') ?? 0) <= 1,
  }).toEqual({ received: 4, recorded: 2, notServed: 1, unsigned: 1, timed: 4, ready: 1, pending: 0, sweeps: true })
})

async function metrics(): Promise<Map<string, number>> {
  const text = await (await fetch(`${serve.origin}/metrics`)).text()
  return new Map(
    text
      .split('\n')
      .flatMap(line => (/^\w/.test(line) ? [[line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]] : [])),
  )
}
