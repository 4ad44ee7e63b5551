import { createReadiness, type OperationsPorts, whyNotAlive } from '../app/index.ts'
import { silentMeters } from '../telemetry/index.ts'
import type { ClaimLoop } from '../worker/index.ts'
import { readInstallation, readQueue, watchProcess } from './metrics/read-figures.ts'
import type { Parts } from './parts.ts'
import { version } from './version.ts'

export type OperationsOptions = {
  /** What has to go round in this process; asked again each time. */
  loops(): Parameters<typeof whyNotAlive>[0]['loops']
  /** False: what the process before this one left has not been looked at yet. */
  caughtUp(): boolean
  /** True: the process was told to go. */
  leaving(): boolean
  /** Tasks it works on. */
  running(): number
}

/** Answers to whoever runs this process: whether it lives, whether it is ready, and its figures. */
export function openOperations(options: OperationsOptions, parts: Parts): OperationsPorts & { close(): void } {
  const { ledger, owner, queue, settings, environment } = parts
  const notReady = createReadiness({ ledger, owner, caughtUp: options.caughtUp, leaving: options.leaving, now: Date.now })
  const queueHealth = () => queue.health()
  const figures = parts.meters === silentMeters ? null : openFigures(options, notReady, parts)
  return {
    notReady,
    queueHealth,
    notAlive: () => whyNotAlive({ loops: options.loops(), queueHealth, windowMs: settings().limits.livenessWindowMs, now: Date.now() }),
    metrics: figures?.text ?? null,
    metricsToken: environment.GROKBOT_METRICS_TOKEN ?? null,
    close: () => figures?.close(),
  }
}

/** What is counted, together with what is read at the moment somebody asks. */
function openFigures(options: OperationsOptions, notReady: () => Promise<string | null>, { role, meters, ledger, queue }: Parts) {
  const watched = watchProcess(meters.set, { version: version(), role })
  return {
    async text() {
      meters.set('grokbot_ready', (await notReady()) === null ? 1 : 0)
      if (role !== 'app') meters.set('grokbot_tasks_here', options.running())
      if (role !== 'worker') await readInstallation(meters.set, ledger)
      readQueue(meters.set, queue.health())
      watched.read()
      return await meters.text()
    },
    close: watched.stop,
  }
}

/** The loop of a process that works on tasks as well. */
export function loopOf(claims: ClaimLoop | null) {
  return claims ? [{ name: 'the look for tasks', turnedAt: claims.turnedAt }] : []
}
