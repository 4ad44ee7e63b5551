import { afterAll, beforeAll, expect, it } from 'vitest'
import { createInProcessQueue } from '../../queue/index.ts'
import { describeQueue } from './contract.ts'
import { isUp, openRecorded } from './open-recorded.ts'
import { startRedis, type TestRedis } from './redis.ts'

let redis: TestRedis
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

describeQueue('in one process', async () => createInProcessQueue())

describeQueue('on Redis', async () => {
  await redis.flush()
  const queue = openRecorded(redis.url)
  await queue.says(isUp)
  return queue
})

it('a ring in one process that nobody listens for is lost', async () => {
  const queue = createInProcessQueue()
  expect(await queue.ring('t_1', 0)).toBe('lost')
  expect(queue.health()).toEqual({ kind: 'in-process' })
})
