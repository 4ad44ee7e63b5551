import { createRedisBackend, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type CutProxy, startCutProxy } from './cut-proxy.ts'
import { isUp, listenTo, openRecorded, type Recorded, untilWaiting } from './open-recorded.ts'
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
beforeEach(() => redis.flush())
afterEach(() => Promise.all(open.splice(0).map(queue => queue.close())))

async function openUp(...given: Parameters<typeof openRecorded>): Promise<Recorded> {
  const queue = openRecorded(...given)
  open.push(queue)
  await queue.says(isUp)
  return queue
}
const keys = async () => ((await redis.command('KEYS', '*')) as string[]).sort()

describe('a ring on Redis', () => {
  it('waits for whoever listens first, as a job with the id of a task and nothing else', async () => {
    const ringer = await openUp(redis.url)
    expect(await ringer.ring('t_1', 0)).toBe('rung')
    const [key = '', ...others] = (await keys()).filter(name => /^grokbot:rings:[0-9a-f]{64}$/.test(name))
    expect(others).toEqual([])
    expect(await redis.command('HGET', key, 'data')).toBe('{"taskId":"t_1"}')
    await untilWaiting(ringer, 1)
    const listener = listenTo(await openUp(redis.url, { pollMs: 60_000 }))
    await listener.hears('t_1')
    await untilWaiting(ringer, 0)
    expect(listener.heard).toEqual(['t_1'])
  })
  it('leaves nothing in Redis once it was taken', async () => {
    const queue = await openUp(redis.url)
    await queue.ring('t_1', 0)
    await untilWaiting(queue, 1)
    listenTo(queue)
    await untilWaiting(queue, 0)
    const ofQueue = /^grokbot:rings:(?:meta|events|id|marker|pc|stalled-check)$/
    expect((await keys()).filter(name => !ofQueue.test(name))).toEqual([])
    expect(await redis.command('XLEN', 'grokbot:rings:events')).toBeLessThan(200)
  })
  it('is heard the sooner the lower its priority number is', async () => {
    const ringer = await openUp(redis.url)
    const rings = { late: 10, first: -1, second: 0, third: 0 }
    for (const [taskId, priority] of Object.entries(rings)) await ringer.ring(taskId, priority)
    const listener = listenTo(await openUp(redis.url, { ringRowsMax: 1 }))
    await listener.hears('late')
    expect(listener.heard).toEqual(['first', 'second', 'third', 'late'])
  })
  it('is heard by every process that listens, so that none without a free slot keeps it from an idle one', async () => {
    const [ringer, full, idle] = await Promise.all([openUp(redis.url), openUp(redis.url), openUp(redis.url)])
    const listeners = [listenTo(full), listenTo(idle)]
    await expect.poll(async () => await redis.command('PUBSUB', 'NUMSUB', 'grokbot:bell')).toEqual(['grokbot:bell', 2])
    for (let round = 0; round < 20; round += 1) {
      await ringer.ring(`t_${round}`, 0)
      await Promise.all(listeners.map(listener => listener.hears(`t_${round}`)))
    }
  })
  it('does not reach who shares the Redis and has another prefix', async () => {
    const [ours, theirs] = await Promise.all([openUp(redis.url), openUp(redis.url, {}, 'other')])
    await ours.ring('ours', 0)
    await theirs.ring('theirs', 0)
    await untilWaiting(theirs, 1)
    const theirListener = listenTo(theirs)
    await untilWaiting(theirs, 0)
    const ourListener = listenTo(ours)
    await ourListener.hears('ours')
    await ours.ring('ours too', 0)
    await ourListener.hears('ours too')
    await theirs.ring('theirs too', 0)
    await theirListener.hears('theirs too')
    expect(new Set(ourListener.heard)).toEqual(new Set(['ours', 'ours too']))
    expect(new Set(theirListener.heard)).toEqual(new Set(['theirs', 'theirs too']))
  })
  it('is one job when its answer is lost and it is told again, and the next ring of the task is another', async () => {
    const ringer = await openUp(`redis://127.0.0.1:${proxy.port}`)
    proxy.hold('answers')
    const ringing = ringer.ring('t_1', 0)
    await expect.poll(() => redis.command('ZCARD', 'grokbot:rings:prioritized'), { interval: 5 }).toBe(1)
    proxy.cut()
    proxy.restore()
    expect(await ringing).toBe('rung')
    expect(await redis.command('ZCARD', 'grokbot:rings:prioritized')).toBe(1)
    expect(await ringer.ring('t_1', 0)).toBe('rung')
    expect(await redis.command('ZCARD', 'grokbot:rings:prioritized')).toBe(2)
  })
  it('that a process took which died is heard by another, however often that happens', async () => {
    const ringer = await openUp(redis.url)
    await ringer.ring('t_1', 0)
    const connection = new Redis(redis.url)
    const options = { connection, prefix: 'grokbot', autorun: false, lockDuration: 10, stalledInterval: 10, skipVersionCheck: true }
    const dying = new Worker('rings', null, options, (name, given) => createRedisBackend(name, given))
    const take = async () => {
      await dying.getBackend().moveStalledJobsToWait()
      return (await dying.getNextJob('token', { block: false }))?.data
    }
    for (let round = 0; round < 3; round += 1) await expect.poll(take, { interval: 5 }).toEqual({ taskId: 't_1' })
    connection.disconnect()
    const listener = listenTo(await openUp(redis.url, { ringLockMs: 40 }))
    await listener.hears('t_1')
    await untilWaiting(ringer, 0)
  })
  it('reaches a listener that failed at the one before, and leaves nothing of either', async () => {
    const queue = await openUp(redis.url)
    const heard: string[] = []
    queue.listen(taskId => {
      heard.push(taskId)
      if (taskId === 'bad') throw new Error('no')
    })
    await queue.ring('bad', 0)
    await queue.says('the listener of rings failed')
    await queue.ring('good', 0)
    await expect.poll(() => heard, { interval: 5 }).toContain('good')
    await untilWaiting(queue, 0)
    expect(queue.health()).toMatchObject({ state: 'up' })
  })
  it('is no matter for what others wrote into the queue', async () => {
    const queue = await openUp(redis.url)
    await redis.command('HSET', 'grokbot:rings:foreign', 'name', 'x', 'data', '"text"', 'opts', '{}', 'timestamp', 1)
    await redis.command('LPUSH', 'grokbot:rings:wait', 'foreign')
    const listener = listenTo(queue)
    await queue.ring('t_1', 0)
    await listener.hears('t_1')
    await untilWaiting(queue, 0)
    expect(new Set(listener.heard)).toEqual(new Set(['t_1']))
    expect(queue.lines.map(({ msg }) => msg)).toEqual([isUp])
  })
})
