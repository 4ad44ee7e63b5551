import { Redis } from 'ioredis'
import type { RedisAddress } from '../config-schema/index.ts'
import { type JudgedRedis, judgeRedis } from './judge-redis.ts'
import type { QueueLimits } from './limits.ts'
import { replyErrorName } from './reply-error-name.ts'
import { openRingJobs, type Ring } from './ring-jobs.ts'
import { within } from './within.ts'

/**
 * One connection to Redis, from its opening to its first trouble. It is never mended: the next one is new, so that nothing
 * can be left of what went wrong with it, in Redis, in ioredis or in BullMQ.
 */
export type RedisConnection = {
  isAlive(): boolean
  /** Throws when Redis did not say that it has the ring. */
  ring(ring: Ring): Promise<void>
  /** Looks whether this Redis can be used and, when somebody listens, takes the rings that wait. Throws when Redis did not answer. */
  poll(isListening: boolean): Promise<Polled>
  /** Ends it at once, and with it what waits for an answer. */
  close(): void
}

export type Polled = { kind: 'accepted'; waiting: number } | Extract<JudgedRedis, { kind: 'refused' }>

export type RedisConnectionOptions = {
  address: RedisAddress
  prefix: string
  limits: QueueLimits
  /** Must not throw. */
  onRing(taskId: string): void
  onDeath(): void
  /** Must not throw. What was wrong first is what matters. */
  onError(error: unknown): void
  /** Ends it, also while it is being opened. */
  signal: AbortSignal
}

/** Throws when there is no connection within `connectWaitMs`. */
export async function openRedisConnection(options: RedisConnectionOptions): Promise<RedisConnection> {
  const { prefix, limits, signal, onRing, onError } = options
  signal.throwIfAborted()
  const client = new Redis(clientOptions(options))
  client.on('error', onError).on('close', options.onDeath)
  client.on('message', (_channel, taskId) => onRing(taskId))
  const close = () => {
    signal.removeEventListener('abort', close)
    // Of one that has ended, a timer would be left that waits for its end.
    if (client.status === 'end') return
    client.disconnect()
    // A half-open connection answers no goodbye.
    client.stream?.destroy()
  }
  signal.addEventListener('abort', close)
  try {
    await within(limits.connectWaitMs, client.connect())
  } catch (error) {
    close()
    throw error
  }
  const jobs = openRingJobs({ client, prefix, limits, onError })
  const bell = `${prefix}:bell`
  let isSubscribed = false
  return {
    isAlive: () => client.status === 'ready',
    // Called out to everybody who listens, and kept as a job for whoever comes. With the job alone one process would hear it, and
    // when that one has no free slot the ring is gone, while another sits idle. A call costs each idle process one look at the
    // ledger; a process without a free slot does not look. The job is what those hear who were not there: just started, or cut off.
    async ring(ring) {
      await Promise.all([jobs.add(ring), client.publish(bell, ring.taskId)])
    },
    async poll(isListening) {
      try {
        const judged = judgeRedis(await client.info())
        if (judged.kind === 'refused') return judged
        if (isListening && !isSubscribed) await client.subscribe(bell)
        if (!isListening && isSubscribed) await client.unsubscribe(bell)
        isSubscribed = isListening
        if (isListening) await jobs.take(onRing)
        return { kind: 'accepted', waiting: await jobs.count() }
      } catch (error) {
        const name = replyErrorName(error)
        if (name === null) throw error
        // It is there, and its connection is sound: whoever is called out to still hears.
        return { kind: 'refused', reason: `it answers ${name}` }
      }
    },
    close,
  }
}

function clientOptions({ address, limits }: RedisConnectionOptions) {
  const { host, port, tls, username, password, database } = address
  return {
    host,
    port,
    ...(tls ? { tls: {} } : {}),
    ...(username === '' ? {} : { username }),
    ...(password === '' ? {} : { password }),
    db: database,
    lazyConnect: true,
    // Nothing is kept for later, and nothing is sent a second time.
    retryStrategy: () => null,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    // INFO is asked anyway.
    enableReadyCheck: false,
    connectTimeout: limits.connectWaitMs,
    commandTimeout: limits.commandWaitMs,
    disconnectTimeout: limits.closeWaitMs,
  }
}
