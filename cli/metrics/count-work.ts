import type { Claim } from '../../ledger/index.ts'
import type { Queue } from '../../queue/index.ts'
import type { Meters } from '../../telemetry/index.ts'
import type { TaskProgress } from '../../worker/index.ts'
import type { MetricName } from './metric-table.ts'

/** What the second half tells, as metrics. */
export function countWork(meters: Meters<MetricName>): { claimed(claim: Claim): void; progress(update: TaskProgress): void } {
  return {
    claimed({ recovers, exhausted }) {
      meters.count('grokbot_claims_total', { kind: exhausted ? 'exhausted' : recovers === null ? 'new' : 'recovered' })
    },
    progress(update) {
      if (update.kind === 'ended') meters.count('grokbot_outcomes_total', { outcome: update.outcome })
      if (update.kind !== 'session') return
      const { update: session } = update
      if (session.kind === 'turn') meters.count('grokbot_model_answers_total')
      else if (session.kind === 'retrying') meters.count('grokbot_model_retries_total')
      else if (session.kind === 'tool-settled') meters.count('grokbot_tool_calls_total', { verb: session.verb, status: session.status })
    },
  }
}

/** The same bell, whose rings are counted. */
export function countRings(queue: Queue, meters: Meters<MetricName>): Queue {
  return {
    ...queue,
    async ring(taskId, priority) {
      const result = await queue.ring(taskId, priority)
      meters.count('grokbot_rings_total', { result })
      return result
    },
    listen: onRing =>
      queue.listen(taskId => {
        meters.count('grokbot_rings_total', { result: 'heard' })
        onRing(taskId)
      }),
  }
}
