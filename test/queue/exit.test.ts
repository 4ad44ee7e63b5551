import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { expect, it, onTestFinished } from 'vitest'
import { startCutProxy } from './cut-proxy.ts'
import { isAway, isUp } from './open-recorded.ts'
import { startRedis } from './redis.ts'

it('a process that closes its queues ends by itself, whether Redis is there, silent, silent from the beginning, or away', async () => {
  const redis = await startRedis()
  onTestFinished(redis.stop)
  const proxies = await Promise.all(Array.from({ length: 4 }, () => startCutProxy(redis.port)))
  onTestFinished(async () => void (await Promise.all(proxies.map(proxy => proxy.close()))))
  const [, silent, alwaysSilent, away] = proxies
  alwaysSilent?.hold()
  away?.cut()
  const urls = proxies.map(({ port }) => `redis://127.0.0.1:${port}`)
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'listener-process.ts'), ...urls])
  onTestFinished(() => void child.kill('SIGKILL'))
  const said: string[] = []
  const wake: (() => void)[] = []
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on('line', line => {
      said.push(line)
      for (const resolve of wake.splice(0)) resolve()
    })
  }
  const says = async (index: number, message: string) => {
    while (!said.includes(JSON.stringify({ index, message }))) await new Promise<void>(resolve => wake.push(resolve))
  }
  await Promise.all([says(0, isUp), says(1, isUp), says(3, isAway)])
  await expect.poll(() => alwaysSilent?.connections(), { interval: 5, timeout: 10_000 }).toBe(1)
  silent?.hold()

  const [ended, closedAt] = [once(child, 'close'), performance.now()]
  child.stdin.end()
  expect(await ended).toEqual([0, null])
  expect(performance.now() - closedAt).toBeLessThan(10_000)
  const expected = [[0, isUp], [1, isUp], [3, isAway], ...[0, 1, 2, 3].map(index => [index, 'closed'])] as const
  expect(said.sort()).toEqual(expected.map(([index, message]) => JSON.stringify({ index, message })).sort())
})
