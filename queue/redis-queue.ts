import { randomUUID } from 'node:crypto'
import { parseRedisUrl } from '../config-schema/index.ts'
import { type Logger, registerSecret } from '../telemetry/index.ts'
import { type KeptConnection, keepConnected } from './keep-connected.ts'
import type { QueueLimits } from './limits.ts'
import type { Queue } from './queue.ts'
import type { Ring } from './ring-jobs.ts'

export type RedisQueueOptions = {
  url: string
  /** Before every key and channel: installations that share one Redis need one each. */
  prefix?: string
  logger: Logger
  limits: QueueLimits
  now(): number
}

/** The driver of several processes. Opens at once, whether or not Redis is there; throws only when the URL is none. */
export function openRedisQueue({ url, prefix = 'grokbot', logger, limits, now }: RedisQueueOptions): Queue {
  const address = parseRedisUrl(url)
  // The text stays out of the error: a password may stand in it.
  if (address === null) throw new Error('the address of Redis is no redis:// or rediss:// URL')
  registerSecret(address.password)
  let listener: ((taskId: string) => void) | null = null
  let heardAt: number | null = null
  const onAnswer = () => {
    heardAt = now()
  }
  function onRing(taskId: string) {
    onAnswer()
    try {
      listener?.(taskId)
    } catch (error) {
      logger.error({ error, task: taskId }, 'the listener of rings failed')
    }
  }
  const kept = keepConnected({ address, prefix, limits, logger, onRing, onAnswer, isListening: () => listener !== null })
  const ringer = createRinger(kept, limits)
  return {
    ring: ringer.ring,
    listen(given) {
      if (listener !== null) throw new Error('the queue has a listener already')
      listener = given
      kept.pollNow()
      return () => {
        if (listener !== given) return
        listener = null
        kept.pollNow()
      }
    },
    health: () => ({ kind: 'redis', ...kept.health(), heardAt }),
    async close() {
      listener = null
      ringer.close()
      await kept.close()
    },
  }
}

type Ringer = Pick<Queue, 'ring'> & { close(): void }

/** Bounds how long a ring takes and how many are under way. */
function createRinger(kept: KeptConnection, limits: QueueLimits): Ringer {
  const unanswered = new Set<AbortController>()
  const opened = randomUUID()
  let rings = 0
  return {
    async ring(taskId, priority) {
      if (kept.current() === null || unanswered.size >= limits.ringsUnansweredMax) return 'lost'
      rings += 1
      const late = new AbortController()
      const lost = new Promise<'lost'>(resolve => late.signal.addEventListener('abort', () => resolve('lost')))
      const timer = setTimeout(() => late.abort(), limits.ringWaitMs)
      unanswered.add(late)
      // It counts until Redis has answered or its connection is gone, not until the caller has: that is what bounds the memory.
      const told = tell({ taskId, priority, number: `${opened}.${rings}` }, kept, late.signal).finally(() => {
        clearTimeout(timer)
        unanswered.delete(late)
      })
      return await Promise.race([told, lost])
    },
    close() {
      for (const late of unanswered) late.abort()
    },
  }
}

async function tell(ring: Ring, kept: KeptConnection, late: AbortSignal): Promise<'rung' | 'lost'> {
  const connection = kept.current()
  if (connection === null) return 'lost'
  try {
    await connection.ring(ring)
    return 'rung'
  } catch {
    // A Redis that said no, because it is full or makes a copy of itself, says no again.
    if (connection.isAlive()) return 'lost'
  }
  try {
    // Whether Redis had it when the connection broke is not known. Told again it is the same job.
    const next = await kept.next(late)
    await next.ring(ring)
    return 'rung'
  } catch {
    return 'lost'
  }
}
