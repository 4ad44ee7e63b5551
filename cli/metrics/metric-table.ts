import { deliveryAnswers, ignoredWhys } from '../../app/index.ts'
import { commandTable, outcomes } from '../../domain/index.ts'
import { type Meters, type MetricTable, openMeters } from '../../telemetry/index.ts'

/** GitHub waits ten seconds; what is answered within milliseconds is what is looked at. */
const answerSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Of processes that receive. What stands in the ledger is the whole installation's: said by every worker too it would be added up. */
const intakeMetrics = {
  grokbot_deliveries_received_total: { type: 'counter', help: 'Deliveries that began to come in.' },
  grokbot_deliveries_answered_total: {
    type: 'counter',
    help: 'What they were answered with: recorded, known and not-served with 2xx, all others are refusals.',
    labels: { answer: Object.keys(deliveryAnswers) },
  },
  grokbot_delivery_answer_seconds: { type: 'histogram', help: 'From the head of a delivery to its answer.', buckets: answerSeconds },
  grokbot_deliveries_ignored_total: {
    type: 'counter',
    help: 'Stored deliveries that nothing was done for.',
    labels: { reason: ignoredWhys },
  },
  grokbot_deliveries_pending: { type: 'gauge', help: 'Stored deliveries that were not taken yet.' },
  grokbot_deliveries_pending_oldest_seconds: { type: 'gauge', help: 'How long the oldest of them waits; 0: there is none.' },
  grokbot_delivery_sweeps_total: {
    type: 'counter',
    help: 'Looks for deliveries that GitHub could not bring, by the one process that does it.',
    labels: { result: ['done', 'failed'] },
  },
  grokbot_redeliveries_total: { type: 'counter', help: 'Deliveries that GitHub was asked to bring again.' },
  grokbot_commands_proposed_total: { type: 'counter', help: 'Commands that stood in stored deliveries, whatever became of them.' },
  grokbot_commands_accepted_total: {
    type: 'counter',
    help: 'Commands that became tasks.',
    labels: { verb: commandTable.map(({ verb }) => verb) },
  },
  grokbot_commands_refused_total: { type: 'counter', help: 'Commands that were refused.', labels: { reason: null } },
  grokbot_commands_known_total: { type: 'counter', help: 'Commands that had been taken before, under whatever delivery.' },
  grokbot_tasks: { type: 'gauge', help: 'Tasks for workers that have not ended.', labels: { state: ['waiting', 'running'] } },
  grokbot_tasks_waiting_oldest_seconds: { type: 'gauge', help: 'How long the oldest waiting task waits; 0: there is none.' },
  grokbot_effects: {
    type: 'gauge',
    help: 'Effects without a final state; unknown: sent, and nobody could say whether it is there.',
    labels: { state: ['in-flight', 'unknown'] },
  },
} as const satisfies MetricTable

/** Of processes that work on tasks. */
const workMetrics = {
  grokbot_claims_total: {
    type: 'counter',
    help: 'Attempts begun here: of new tasks, of tasks whose worker was lost, and of those lost too often.',
    labels: { kind: ['new', 'recovered', 'exhausted'] },
  },
  grokbot_tasks_here: { type: 'gauge', help: 'Tasks this process works on.' },
  grokbot_outcomes_total: { type: 'counter', help: 'Tasks that ended here.', labels: { outcome: outcomes } },
  grokbot_model_answers_total: { type: 'counter', help: 'Answers of the model.' },
  grokbot_model_retries_total: { type: 'counter', help: 'Requests to the model that were made once more.' },
  grokbot_tool_calls_total: {
    type: 'counter',
    help: 'Tool calls of sessions; verb run: commands in sandboxes.',
    labels: { verb: null, status: null },
  },
} as const satisfies MetricTable

const processMetrics = {
  grokbot_queue: { type: 'gauge', help: '1 at the state of the bell.', labels: { state: ['in-process', 'up', 'connecting', 'refused'] } },
  grokbot_queue_rings_waiting: { type: 'gauge', help: 'Rings in Redis that nobody has taken yet.' },
  grokbot_rings_total: {
    type: 'counter',
    help: 'Rings of this process, and those it heard.',
    labels: { result: ['rung', 'lost', 'heard'] },
  },
  grokbot_ready: { type: 'gauge', help: '1: /readyz says yes.' },
  grokbot_event_loop_lag_seconds: {
    type: 'gauge',
    help: 'How late timers were since the last reading.',
    labels: { quantile: ['0.5', '0.99', '1'] },
  },
  grokbot_build_info: { type: 'gauge', help: 'Always 1.', labels: { version: null, role: null } },
  process_resident_memory_bytes: { type: 'gauge', help: 'Memory of this process.' },
  nodejs_heap_used_bytes: { type: 'gauge', help: 'The part of it that JavaScript uses.' },
  process_start_time_seconds: { type: 'gauge', help: 'When it started, in seconds since 1970.' },
} as const satisfies MetricTable

/** Everything that `/metrics` can say; `docs/operations.md` is made from it. Counts are of one process since its start. */
export const metricTable = { ...intakeMetrics, ...workMetrics, ...processMetrics }
export type MetricName = keyof typeof metricTable

export const metricGroups = [
  { roles: ['serve', 'app'], metrics: intakeMetrics },
  { roles: ['serve', 'worker'], metrics: workMetrics },
  { roles: ['serve', 'app', 'worker'], metrics: processMetrics },
] as const satisfies readonly { roles: readonly string[]; metrics: MetricTable }[]

/** The meters of one process: of what it does not do it says nothing, not 0. */
export async function openMetersOf(role: 'serve' | 'app' | 'worker'): Promise<Meters<MetricName>> {
  const groups = metricGroups.filter(({ roles }) => (roles as readonly string[]).includes(role))
  return await openMeters(Object.assign({}, ...groups.map(({ metrics }) => metrics)) as typeof metricTable)
}
