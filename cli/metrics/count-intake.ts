import type { DeliverySweepMeter, ReceiverMeter, SettledDelivery } from '../../app/index.ts'
import type { Meters } from '../../telemetry/index.ts'
import type { MetricName } from './metric-table.ts'

/** What the first half tells, as metrics. Proposed, accepted, refused and ignored are counted apart. */
export function countIntake(meters: Meters<MetricName>): ReceiverMeter & DeliverySweepMeter & { settled(settled: SettledDelivery): void } {
  return {
    received: () => meters.count('grokbot_deliveries_received_total'),
    answered(answer, seconds) {
      meters.count('grokbot_deliveries_answered_total', { answer })
      meters.observe('grokbot_delivery_answer_seconds', seconds)
    },
    swept: result => meters.count('grokbot_delivery_sweeps_total', { result }),
    redelivered: () => meters.count('grokbot_redeliveries_total'),
    settled(settled) {
      meters.count('grokbot_commands_proposed_total', {}, settled.proposed)
      if (settled.kind === 'ignored') return meters.count('grokbot_deliveries_ignored_total', { reason: settled.why })
      for (const { acceptance, known } of settled.taken) {
        if (known) meters.count('grokbot_commands_known_total')
        else if (acceptance.kind === 'accepted') meters.count('grokbot_commands_accepted_total', { verb: acceptance.row.verb })
        else meters.count('grokbot_commands_refused_total', { reason: acceptance.reason })
      }
    },
  }
}
