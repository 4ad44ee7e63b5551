import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Queue, QueueLimits } from '../../queue/index.ts'
import { type CutProxy, startCutProxy } from './cut-proxy.ts'
import { impatient, isAway, isRefused, isUp, listenTo, openRecorded, type Recorded } from './open-recorded.ts'
import { startRedis, type TestRedis } from './redis.ts'

let redis: TestRedis
let proxy: CutProxy
const open: Recorded[] = []
beforeAll(async () => {
  redis = await startRedis()
  proxy = await startCutProxy(redis.port)
})
afterAll(async () => {
  await proxy.close()
  await redis.stop()
})
afterEach(() => Promise.all(open.splice(0).map(queue => queue.close())))

function openIt(...given: Parameters<typeof openRecorded>): Recorded {
  const queue = openRecorded(...given)
  open.push(queue)
  return queue
}
async function ownRedis(args: readonly string[] = []): Promise<TestRedis> {
  const own = await startRedis({ args })
  onTestFinished(own.stop)
  return own
}
const throughProxy = () => `redis://127.0.0.1:${proxy.port}`

/** Rings are lost while Redis is away: whoever has something to say says it again. */
async function ringUntilRung(queue: Queue, taskId: string): Promise<void> {
  while ((await queue.ring(taskId, 0)) === 'lost') await pause(10)
}

type Fault = { title: string; limits?: Partial<QueueLimits>; of(queue: Recorded): Promise<void> }
const faults: Fault[] = [
  { title: 'Redis was restarted and has lost everything', of: () => redis.restart() },
  { title: 'all keys are gone', of: () => redis.flush() },
  { title: 'all scripts are gone', of: () => redis.flush('scripts') },
  {
    title: 'Redis answered nobody for a while',
    async of(queue) {
      await redis.pause(800)
      await queue.says(isAway)
    },
  },
  {
    title: 'its connection was half-open for a while',
    async of(queue) {
      proxy.hold()
      await queue.says(isAway)
      // Each try to connect is held as well; a few of them pass by.
      await pause(3 * impatient.connectWaitMs)
      proxy.restore()
    },
  },
  {
    title: 'what it waited for never came, and no command took too long',
    limits: { commandWaitMs: 60_000, pollWaitMs: 300 },
    async of(queue) {
      proxy.hold('answers')
      await queue.says(isAway)
      proxy.restore()
    },
  },
  {
    title: 'it was cut off',
    async of(queue) {
      proxy.cut()
      await queue.says(isAway)
      proxy.restore()
    },
  },
  {
    title: 'Redis ended every connection',
    async of() {
      await redis.command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
      await redis.command('CLIENT', 'KILL', 'TYPE', 'pubsub')
    },
  },
]

describe('whoever listens hears again by itself after', () => {
  it.each(faults)('$title', async ({ of: happen, limits }) => {
    const [queue, ringer] = [openIt(throughProxy(), { ...impatient, ...limits }), openIt(redis.url, impatient)]
    await Promise.all([queue.says(isUp), ringer.says(isUp)])
    const listener = listenTo(queue)
    await ringUntilRung(ringer, 'before')
    await listener.hears('before')

    await happen(queue)
    const backAt = Date.now()
    await ringUntilRung(ringer, 'after')
    await listener.hears('after')
    await ringUntilRung(queue, 'own')
    await listener.hears('own')
    expect(Date.now() - backAt).toBeLessThan(5_000)
    await expect.poll(() => queue.health(), { interval: 5 }).toMatchObject({ kind: 'redis', state: 'up', reason: null })
    const { heardAt } = queue.health() as { heardAt: number }
    expect(heardAt).toBeGreaterThanOrEqual(backAt)
  })
})

describe('while Redis is', () => {
  it('not there, rings are lost at once, and it is found when it comes', async () => {
    const later = await ownRedis()
    await later.kill()
    const queue = openIt(later.url, { ringWaitMs: 60_000 })
    const listener = listenTo(queue)
    expect(await queue.says(isAway)).toMatchObject({ reason: 'ECONNREFUSED' })
    expect(queue.health()).toEqual({ kind: 'redis', state: 'connecting', reason: 'ECONNREFUSED', heardAt: null, waiting: null })
    expect(await queue.ring('t_1', 0)).toBe('lost')
    await later.restart()
    await queue.says(isUp)
    expect(await queue.ring('t_2', 0)).toBe('rung')
    await listener.hears('t_2')
    expect(listener.heard).not.toContain('t_1')
    await later.kill()
    await queue.says(isAway)
    expect(await queue.ring('t_3', 0)).toBe('lost')
  })
  it('silent, a ring holds nobody up for longer than its limit, and no more of them wait than are allowed', async () => {
    const queue = openIt(throughProxy(), { ringWaitMs: 300, ringsUnansweredMax: 4, commandWaitMs: 20_000 })
    await queue.says(isUp)
    proxy.hold()
    const startedAt = performance.now()
    const rings = Array.from({ length: 1_000 }, () => queue.ring('t_1', 0))
    const atOnce = Promise.all(rings.slice(4)).then(() => 'those beyond the limit')
    expect(await Promise.race([atOnce, rings[0]?.then(() => 'one that waited')])).toBe('those beyond the limit')
    expect(new Set(await Promise.all(rings))).toEqual(new Set(['lost']))
    expect(performance.now() - startedAt).toBeLessThan(5_000)
    proxy.restore()
  })
  it('full, its rings are lost and those who listen hear them all the same', async () => {
    const full = await ownRedis()
    const [queue, ringer] = [openIt(full.url), openIt(full.url)]
    await Promise.all([queue.says(isUp), ringer.says(isUp)])
    const listener = listenTo(queue)
    await ringer.ring('t_1', 0)
    await listener.hears('t_1')
    await full.command('CONFIG', 'SET', 'maxmemory', 1)
    expect(await queue.says(isRefused)).toMatchObject({ reason: 'it answers OOM' })
    expect(await ringer.ring('t_2', 0)).toBe('lost')
    await listener.hears('t_2')
    await full.command('CONFIG', 'SET', 'maxmemory', 0)
    await queue.says(isUp)
    expect(await ringer.ring('t_3', 0)).toBe('rung')
    await listener.hears('t_3')
  })
})

describe('a Redis that may drop keys', () => {
  const policies = ['allkeys-lru', 'allkeys-lfu', 'allkeys-random', 'volatile-lru', 'volatile-lfu', 'volatile-random', 'volatile-ttl']
  const reason = (policy: string) =>
    `its maxmemory-policy is ${policy}, under which keys may be dropped: set noeviction (CONFIG SET maxmemory-policy noeviction, and in its configuration file)`

  it('Q82: is refused with its policy and the way out, and used as soon as that was gone', async () => {
    const evicting = await ownRedis(['--maxmemory-policy', 'allkeys-lru'])
    const queue = openIt(evicting.url)
    const listener = listenTo(queue)
    expect(await queue.says(isRefused)).toEqual({ level: 50, msg: isRefused, reason: reason('allkeys-lru') })
    expect(await queue.ring('t_1', 0)).toBe('lost')
    expect(queue.health()).toEqual({ kind: 'redis', state: 'refused', reason: reason('allkeys-lru'), heardAt: null, waiting: null })
    for (const policy of policies.slice(1)) {
      await evicting.command('CONFIG', 'SET', 'maxmemory-policy', policy)
      expect(await queue.says(isRefused)).toMatchObject({ reason: reason(policy) })
    }
    await evicting.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
    await queue.says(isUp)
    expect(await queue.ring('t_2', 0)).toBe('rung')
    await listener.hears('t_2')
    await evicting.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
    await queue.says(isRefused)
    expect(await queue.ring('t_3', 0)).toBe('lost')
  })
  it('is refused when it was set up so while it was away, before any ring goes there', async () => {
    const changing = await ownRedis()
    const queue = openIt(changing.url)
    await queue.says(isUp)
    await changing.restart(['--maxmemory-policy', 'volatile-ttl'])
    await queue.says(isRefused)
    expect(await queue.ring('t_1', 0)).toBe('lost')
    expect(((await changing.command('KEYS', '*')) as string[]).filter(key => key.includes('prioritized'))).toEqual([])
  })
  it('is refused also when it is a copy of another', async () => {
    const copy = await ownRedis(['--replicaof', '127.0.0.1', String(redis.port)])
    const queue = openIt(copy.url)
    expect(await queue.says(isRefused)).toMatchObject({ reason: 'its role is slave: give the address of the primary' })
  })
})
