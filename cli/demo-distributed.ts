import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ModelEndpoint } from '../config-schema/index.ts'
import type { RecordedEvent } from '../domain/index.ts'
import { entryPath } from '../entries.ts'
import type { Ledger } from '../ledger/index.ts'
import { cliLimits } from './limits.ts'
import { startOwnRedis } from './own-redis.ts'
import type { Serving } from './start-serve.ts'

export type DistributedOptions = {
  folder: string
  dataDir: string
  github: { apiUrl: string; appId: string; privateKey: string; webhookSecret: string }
  allowedOwners: readonly string[]
  model: ModelEndpoint
  note(line: string): void
}

export type Distributed = Serving & {
  /** Kills, as the kernel would, the worker that has the task, once the session is in its middle. Resolves with when, in UTC milliseconds. */
  killWorker(taskId: string, ledger: Ledger): Promise<number>
}

const workers = 2
/** Tool results that must be recorded before the kill: there is work to lose, and work left to do. */
const resultsBeforeKill = 3

/** One app, two workers and a Redis, each a process of its own, as an operator would start them. */
export async function startDistributed(options: DistributedOptions): Promise<Distributed> {
  const redis = await startOwnRedis(options.folder)
  const started: Started[] = []
  const start = async (command: string, settings: Record<string, string>, readyMessage: string, more: readonly string[] = []) => {
    const process = startProcess([command, '--data', options.dataDir, ...more], { ...settings, REDIS_URL: redis.url })
    started.push(process)
    return { process, said: await process.says(readyMessage) }
  }
  const close = async () => {
    await Promise.all(started.map(process => process.stop()))
    await redis.stop()
  }
  try {
    const app = await start('app', appSettings(options), 'listening for webhooks', ['--host', '127.0.0.1', '--port', '0'])
    const ready = await Promise.all(Array.from({ length: workers }, () => start('worker', workerSettings(options), 'waiting for tasks')))
    options.note(`  1 app, ${workers} workers, 1 Redis: ${started.length + 1} processes`)
    const byOwner = new Map(ready.map(({ process, said }) => [String(said['owner']), process]))
    return { url: String(app.said['url']), close, killWorker: (taskId, ledger) => killHolder(taskId, ledger, byOwner, options.note) }
  } catch (error) {
    await close()
    throw error
  }
}

/** How long after the kill the next model request of another attempt was made; null: there was no other attempt. */
export function recoveryMs(events: readonly RecordedEvent[], killedAt: number): number | null {
  const next = events.find(({ type, attempt, at }) => type === 'model.requested' && attempt > 1 && at >= killedAt)
  return next ? next.at - killedAt : null
}

async function killHolder(
  taskId: string,
  ledger: Ledger,
  byOwner: ReadonlyMap<string, Started>,
  note: (line: string) => void,
): Promise<number> {
  for (const until = performance.now() + cliLimits.demoKillMs; performance.now() < until; await sleep(10)) {
    const events = await ledger.readEvents(taskId)
    if (events.filter(({ type }) => type === 'tool.settled').length < resultsBeforeKill) continue
    const holder = byOwner.get((await ledger.task(taskId))?.owner ?? '')
    if (!holder) break
    const killedAt = Date.now()
    holder.kill()
    note('  killed the worker that has the task, after its third tool result; the other one goes on')
    return killedAt
  }
  throw new Error('the task had no worker that could be killed')
}

function appSettings({ github, allowedOwners }: DistributedOptions): Record<string, string> {
  return {
    APP_ID: github.appId,
    PRIVATE_KEY: github.privateKey,
    WEBHOOK_SECRET: github.webhookSecret,
    GHE_API_URL: github.apiUrl,
    ALLOWED_OWNERS: allowedOwners.join(','),
  }
}

function workerSettings({ model, allowedOwners }: DistributedOptions): Record<string, string> {
  return {
    OPENAI_BASE_URL: model.baseUrl,
    OPENAI_API_KEY: model.apiKey,
    OPENAI_MODEL: model.model,
    ALLOWED_OWNERS: allowedOwners.join(','),
  }
}

type Started = {
  /** The log line with this message, once it is written. */
  says(message: string): Promise<Record<string, unknown>>
  kill(): void
  /** In good order, or by force when that takes too long. */
  stop(): Promise<void>
}

function startProcess(argv: readonly string[], settings: Record<string, string>): Started {
  // Nothing of the caller's own settings: an App key in it would be refused by a worker, and rightly.
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', LOG_LEVEL: 'info' as const, ...settings }
  const child = spawn(process.execPath, [entryPath('main'), ...argv], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  const exited = once(child, 'exit')
  const lines: Record<string, unknown>[] = []
  const told = new Set<() => void>()
  createInterface({ input: child.stderr as NonNullable<ChildProcess['stderr']> }).on('line', line => {
    lines.push(parsed(line))
    for (const tell of told) tell()
  })
  return {
    async says(message) {
      const found = () => lines.find(({ msg }) => msg === message)
      const gone = exited.then(() => 'gone' as const)
      for (const until = performance.now() + cliLimits.processStartMs; !found(); ) {
        const turn = Promise.withResolvers<void>()
        told.add(turn.resolve)
        const late = performance.now() > until
        if (late || (await Promise.race([turn.promise, gone, sleep(200)])) === 'gone')
          throw new Error(`grokbot ${argv[0]} did not start: ${String(lines.at(-1)?.['msg'] ?? 'it said nothing')}`)
        told.delete(turn.resolve)
      }
      return found() ?? {}
    },
    kill: () => void child.kill('SIGKILL'),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGTERM')
      const late = setTimeout(() => child.kill('SIGKILL'), cliLimits.processStopMs)
      await exited
      clearTimeout(late)
    },
  }
}

function parsed(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line) as Record<string, unknown>
  } catch {
    // Before its logger is there a process says what is wrong as plain text.
    return { msg: line }
  }
}
