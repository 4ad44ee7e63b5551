import { once } from 'node:events'
import { openRedisQueue, queueLimits } from '../../queue/index.ts'

/**
 * Listens at each URL it is given and says each change of state. When its standard input ends it closes them all, and has
 * nothing more to do.
 */
const say = (line: object) => void process.stdout.write(`${JSON.stringify(line)}\n`)
const queues = process.argv.slice(2).map((url, index) => {
  const log = (_fields: object, message: string) => say({ index, message })
  const logger = { info: log, warn: log, error: log }
  // Whatever is left to a timer would be seen: it would take far longer than closing may.
  const names = ['commandWaitMs', 'pollWaitMs', 'connectWaitMs', 'reconnectWaitMs', 'reconnectWaitMsMax', 'closeWaitMs'] as const
  const limits = { ...queueLimits, ...Object.fromEntries(names.map(name => [name, 60_000])) }
  const queue = openRedisQueue({ url, logger, limits, now: Date.now })
  queue.listen(() => undefined)
  return queue
})
process.stdin.resume()
await once(process.stdin, 'end')
await Promise.all(
  queues.map(async (queue, index) => {
    const ringing = queue.ring('t_1', 0)
    await queue.close()
    await ringing
    say({ index, message: 'closed' })
  }),
)
