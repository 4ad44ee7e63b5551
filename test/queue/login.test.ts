import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openRedisQueue, queueLimits } from '../../queue/index.ts'
import { createLogger, silentLogger } from '../../telemetry/index.ts'
import { isAway, isUp, listenTo, openRecorded, type Recorded } from './open-recorded.ts'
import { startRedis, type TestRedis } from './redis.ts'

const password = 'p@ss/word #1: ümlaut'
const open: Recorded[] = []
afterEach(() => Promise.all(open.splice(0).map(queue => queue.close())))

function openIt(url: string): Recorded {
  const queue = openRecorded(url)
  open.push(queue)
  return queue
}

async function ringAndHear(queue: Recorded) {
  await queue.says(isUp)
  const listener = listenTo(queue)
  expect(await queue.ring('t_1', 0)).toBe('rung')
  await listener.hears('t_1')
}

describe('a Redis with a password', () => {
  let redis: TestRedis
  beforeAll(async () => {
    redis = await startRedis({ password })
  })
  afterAll(() => redis.stop())

  it('is used with the one in its URL', async () => {
    const queue = openIt(redis.url)
    await ringAndHear(queue)
    expectHidden(queue.written(), password)
  })
  it('is used by a user of its own and in a database of its own', async () => {
    await redis.command('ACL', 'SETUSER', 'bell', 'on', '>another-one', '~*', '&*', '+@all')
    const queue = openIt(`redis://bell:another-one@127.0.0.1:${redis.port}/3`)
    await ringAndHear(queue)
    await redis.command('SELECT', 3)
    expect(await redis.command('EXISTS', 'grokbot:rings:meta')).toBe(1)
  })
  it.each([
    ['a wrong one', 'wrong-but-secret', 'it answers WRONGPASS'],
    ['a short wrong one', 'pw7', 'it answers WRONGPASS'],
    ['none', null, 'it answers NOAUTH'],
  ])('with %s says why, and never what was tried', async (_title, tried, reason) => {
    const login = tried === null ? '' : `:${tried}@`
    const queue = openIt(`redis://${login}127.0.0.1:${redis.port}`)
    await expect.poll(() => queue.health(), { interval: 5 }).toMatchObject({ state: 'refused', reason })
    expect(await queue.ring('t_1', 0)).toBe('lost')
    await queue.close()
    if (tried !== null) expectHidden(queue.written(), tried)
    if (tried !== null) expectHidden(JSON.stringify(queue.health()), tried)
  })
  it('has its password replaced wherever it would be logged from now on', async () => {
    const queue = openIt(redis.url)
    let written = ''
    const logger = createLogger('info', { write: (line: string) => (written += line) } as unknown as NodeJS.WritableStream)
    logger.error({ error: new Error(`connect to ${redis.url} as ${password}`) }, 'an error of somebody else')
    expectHidden(written, password)
    await queue.close()
  })
})

it.each(['', 'localhost:6379', 'http://127.0.0.1', 'redis://:secret-word@host?tls=true', 'redis://:secret-word@host/x'])(
  'an address such as %j is an error that does not repeat it',
  url => {
    expect(() => openRedisQueue({ url, logger: silentLogger, limits: queueLimits, now: Date.now })).toThrow(
      /^the address of Redis is no redis:\/\/ or rediss:\/\/ URL$/,
    )
  },
)

describe('a Redis behind TLS', () => {
  let redis: TestRedis
  let folder: string
  const trusted = getCACertificates('default')
  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'grokbot-tls-'))
    const [key, certificate] = [path.join(folder, 'key.pem'), path.join(folder, 'certificate.pem')]
    const names = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
    const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
    execFileSync('openssl', ['req', '-x509', ...made, ...names, '-keyout', key, '-out', certificate], { stdio: 'ignore' })
    redis = await startRedis({ tls: { certificate, key }, password })
  })
  afterAll(async () => {
    setDefaultCACertificates(trusted)
    await redis.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('is not talked to while nobody vouches for it', async () => {
    const queue = openIt(redis.url)
    expect(await queue.says(isAway)).toMatchObject({ reason: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
    expectHidden(queue.written(), password)
  })
  it('is used once its certificate is trusted', async () => {
    setDefaultCACertificates([...trusted, readFileSync(path.join(folder, 'certificate.pem'), 'utf8')])
    await ringAndHear(openIt(redis.url))
  })
})

/** In none of the ways in which it would still be one. */
function expectHidden(text: string, secret: string) {
  for (const spelling of [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]) expect(text).not.toContain(spelling)
}
