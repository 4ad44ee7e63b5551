import { EventEmitter, once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { type Logger, redact } from '../telemetry/index.ts'
import type { QueueLimits } from './limits.ts'
import type { RedisHealth } from './queue.ts'
import type { Polled, RedisConnection, RedisConnectionOptions } from './redis-connection.ts'
import { replyErrorName } from './reply-error-name.ts'
import { within } from './within.ts'

export type KeptConnection = {
  /** Null while there is none that may be used. */
  current(): RedisConnection | null
  /** The next one that may be used; throws when the signal comes first. */
  next(signal: AbortSignal): Promise<RedisConnection>
  /** Polls now and not at the next turn. */
  pollNow(): void
  health(): Shown
  /** Never throws. */
  close(): Promise<void>
}

type Shown = Pick<RedisHealth, 'state' | 'reason' | 'waiting'>

export type KeepOptions = Pick<RedisConnectionOptions, 'address' | 'prefix' | 'limits' | 'onRing'> & {
  logger: Logger
  isListening(): boolean
  onAnswer(): void
}

/**
 * Opens one connection after the other, for as long as the process wants rings. A poll is the proof that one lives: when it is
 * not answered in time, whatever the reason, the connection is given up and the next one opened.
 */
export function keepConnected(options: KeepOptions): KeptConnection {
  const { limits } = options
  const connections = new EventEmitter<{ usable: [RedisConnection] }>().setMaxListeners(limits.ringsUnansweredMax)
  const closing = new AbortController()
  let rest = new AbortController()
  let usable: RedisConnection | null = null
  let shown: Shown = { state: 'connecting', reason: null, waiting: null }

  function show(next: Shown) {
    // One line an outage, whatever the tries to connect come to.
    const isNews = next.state !== shown.state || (next.reason !== shown.reason && !(next.state === 'connecting' && shown.reason !== null))
    shown = next
    if (isNews) logState(next, options)
  }
  function settle(connection: RedisConnection, polled: Polled) {
    if (polled.kind === 'refused') {
      usable = null
      return show({ state: 'refused', reason: polled.reason, waiting: null })
    }
    options.onAnswer()
    show({ state: 'up', reason: null, waiting: polled.waiting })
    if (usable === connection) return
    usable = connection
    connections.emit('usable', connection)
  }
  /** The whole life of one connection; how often it answered. */
  async function liveOnce(): Promise<number> {
    let [polls, trouble]: [number, unknown] = [0, null]
    let connection: RedisConnection | null = null
    const onError = (error: unknown) => {
      trouble ??= error
    }
    try {
      // It takes longer to load than some commands may take to start, and most processes have no Redis.
      const { openRedisConnection } = await import('./redis-connection.ts')
      connection = await openRedisConnection({ ...options, onError, onDeath: () => rest.abort(), signal: closing.signal })
      for (; connection.isAlive(); polls += 1) {
        rest = new AbortController()
        settle(connection, await within(limits.pollWaitMs, connection.poll(options.isListening())))
        await pause(limits.pollMs, undefined, { signal: rest.signal }).catch(() => undefined)
      }
    } catch (error) {
      onError(error)
    }
    usable = null
    connection?.close()
    if (!closing.signal.aborted) show(stateOf(trouble, limits))
    return polls
  }
  async function keep() {
    let failures = 0
    while (!closing.signal.aborted) {
      failures = (await liveOnce()) > 1 ? 0 : failures + 1
      const waitMs = Math.min(limits.reconnectWaitMsMax, limits.reconnectWaitMs * 2 ** failures)
      await pause(waitMs, undefined, { signal: closing.signal }).catch(() => undefined)
    }
  }

  const kept = keep().catch(error => options.logger.error({ error }, 'the queue has stopped; rings are lost, the sweep finds their tasks'))
  return {
    current: () => usable,
    async next(signal) {
      const [connection] = await once(connections, 'usable', { signal })
      return connection
    },
    pollNow: () => rest.abort(),
    health: () => shown,
    async close() {
      usable = null
      closing.abort()
      await within(limits.closeWaitMs, kept).catch(() => undefined)
      shown = { state: 'connecting', reason: 'the queue is closed', waiting: null }
    },
  }
}

function logState({ state, reason }: Shown, { logger, address }: KeepOptions) {
  const redis = `${address.host}:${address.port}`
  if (state === 'up') logger.info({ redis }, 'Redis is up')
  else if (state === 'refused') logger.error({ redis, reason }, 'Redis can not be used; rings are lost, the sweep finds their tasks')
  else logger.warn({ redis, reason }, 'Redis is not to be reached; rings are lost, the sweep finds their tasks')
}

function stateOf(trouble: unknown, limits: QueueLimits): Shown {
  const name = replyErrorName(trouble)
  if (name !== null) return { state: 'refused', reason: `it answers ${name}`, waiting: null }
  return { state: 'connecting', reason: reasonOf(trouble).slice(0, limits.reasonCharactersMax), waiting: null }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'the connection was closed'
  return 'code' in error && typeof error.code === 'string' ? error.code : redact(error.message)
}
