import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Ledger } from '../../ledger/index.ts'
import type { QueueHealth } from '../../queue/index.ts'
import type { Meters } from '../../telemetry/index.ts'
import { cliLimits } from '../limits.ts'
import { type MetricName, metricTable } from './metric-table.ts'

type Set = Meters<MetricName>['set']

/** What is read when somebody asks: of the ledger, null = it can not be read, and then that is what is said. */
export async function readInstallation(set: Set, ledger: Pick<Ledger, 'queueFigures'>): Promise<void> {
  const figures: Partial<Awaited<ReturnType<Ledger['queueFigures']>>> = await ledger.queueFigures().catch(() => ({}))
  const isRead = figures.waiting !== undefined
  const seconds = (ms: number | null | undefined) => (isRead ? (ms ?? 0) / 1_000 : null)
  set('grokbot_deliveries_pending', figures.pendingDeliveries ?? null)
  set('grokbot_deliveries_pending_oldest_seconds', seconds(figures.oldestDeliveryMs))
  set('grokbot_tasks', figures.waiting ?? null, { state: 'waiting' })
  set('grokbot_tasks', figures.running ?? null, { state: 'running' })
  set('grokbot_tasks_waiting_oldest_seconds', seconds(figures.oldestWaitingMs))
  set('grokbot_effects', figures.effectsInFlight ?? null, { state: 'in-flight' })
  set('grokbot_effects', figures.effectsUnknown ?? null, { state: 'unknown' })
}

export function readQueue(set: Set, health: QueueHealth): void {
  const now = health.kind === 'redis' ? health.state : health.kind
  for (const state of metricTable.grokbot_queue.labels.state) set('grokbot_queue', state === now ? 1 : 0, { state })
  set('grokbot_queue_rings_waiting', health.kind === 'redis' ? health.waiting : 0)
}

export function watchProcess(set: Set, about: { version: string; role: string }): { read(): void; stop(): void } {
  const lag = monitorEventLoopDelay({ resolution: cliLimits.lagResolutionMs })
  lag.enable()
  set('grokbot_build_info', 1, about)
  set('process_start_time_seconds', Math.round(Date.now() / 1_000 - process.uptime()))
  return {
    read() {
      const { rss, heapUsed } = process.memoryUsage()
      set('process_resident_memory_bytes', rss)
      set('nodejs_heap_used_bytes', heapUsed)
      for (const quantile of metricTable.grokbot_event_loop_lag_seconds.labels.quantile)
        set('grokbot_event_loop_lag_seconds', lagSeconds(lag, Number(quantile)), { quantile })
      lag.reset()
    },
    stop: () => lag.disable(),
  }
}

/** What is measured is the time between two looks, so that the pause between them is part of it. */
function lagSeconds(lag: ReturnType<typeof monitorEventLoopDelay>, share: number): number {
  if (lag.count === 0) return 0
  const betweenMs = (share === 1 ? lag.max : lag.percentile(share * 100)) / 1e6
  return Math.max(0, betweenMs - cliLimits.lagResolutionMs) / 1_000
}
