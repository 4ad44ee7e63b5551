import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { countIntake } from '../../cli/metrics/count-intake.ts'
import { countRings, countWork } from '../../cli/metrics/count-work.ts'
import { metricTable, openMetersOf } from '../../cli/metrics/metric-table.ts'
import { readInstallation, readQueue, watchProcess } from '../../cli/metrics/read-figures.ts'
import { commandTable } from '../../domain/index.ts'
import { createInProcessQueue } from '../../queue/index.ts'

/** Series that are not 0, as they stand in the text. */
async function linesOf(meters: { text(): Promise<{ text: string }> }): Promise<string[]> {
  const { text } = await meters.text()
  return text.split('\n').filter(line => /^\w/.test(line) && !/ 0$/.test(line))
}
const figures = {
  waiting: 3,
  running: 1,
  waitingByTenant: [],
  oldestWaitingMs: 1_500,
  pendingDeliveries: 2,
  oldestDeliveryMs: null,
  effectsInFlight: 4,
  effectsUnknown: 5,
}

test('a process says what it does, and nothing of what it does not do', async () => {
  const names = async (role: 'serve' | 'app' | 'worker') =>
    [...(await (await openMetersOf(role)).text()).text.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name)
  const [serve, app, worker] = await Promise.all([names('serve'), names('app'), names('worker')])
  expect(serve).toEqual(Object.keys(metricTable))
  expect([app.includes('grokbot_tasks'), app.includes('grokbot_outcomes_total')]).toEqual([true, false])
  expect([worker.includes('grokbot_tasks'), worker.includes('grokbot_outcomes_total')]).toEqual([false, true])
  const both = app.filter(name => worker.includes(name))
  expect(new Set([...app, ...worker])).toEqual(new Set(serve))
  expect(both).toContain('grokbot_ready')
})

test('commands that were proposed, accepted, refused and known, and deliveries that were ignored, are counted apart', async () => {
  const meters = await openMetersOf('app')
  const { settled, answered, swept, redelivered } = countIntake(meters)
  const row = commandTable[0]
  const taken = (acceptance: object, known = false) => ({ taskId: 't', acceptance, known }) as never
  settled({
    kind: 'taken',
    proposed: 5,
    taken: [
      taken({ kind: 'accepted', row, retries: null }),
      taken({ kind: 'accepted', row, retries: null }, true),
      taken({ kind: 'refused', reason: 'role', words: '' }),
    ],
  })
  settled({ kind: 'ignored', why: 'bot', reason: 'of @somebody', proposed: 1 })
  answered('recorded', 0.003)
  swept('failed')
  redelivered()
  expect((await linesOf(meters)).filter(line => !line.includes('_bucket'))).toEqual([
    'grokbot_deliveries_answered_total{answer="recorded"} 1',
    'grokbot_delivery_answer_seconds_sum 0.003',
    'grokbot_delivery_answer_seconds_count 1',
    'grokbot_deliveries_ignored_total{reason="bot"} 1',
    'grokbot_delivery_sweeps_total{result="failed"} 1',
    'grokbot_redeliveries_total 1',
    'grokbot_commands_proposed_total 6',
    'grokbot_commands_accepted_total{verb="fix"} 1',
    'grokbot_commands_refused_total{reason="role"} 1',
    'grokbot_commands_known_total 1',
  ])
})

test('claims, outcomes, answers of the model, tool calls and rings are counted', async () => {
  const meters = await openMetersOf('worker')
  const { claimed, progress } = countWork(meters)
  const claim = { taskId: 't', attempt: 1, owner: 'w', leaseUntil: 1, recovers: null, exhausted: false }
  claimed(claim)
  claimed({ ...claim, recovers: 1 })
  claimed({ ...claim, recovers: 1, exhausted: true })
  progress({ kind: 'ended', outcome: 'succeeded', reason: '' })
  progress({ kind: 'session', update: { kind: 'turn', turn: 1, tokens: 5, costMicroUsd: null } })
  progress({ kind: 'session', update: { kind: 'retrying', turn: 1, failure: '', nextTry: 2, triesMax: 6, waitMs: 1 } })
  const tool = { turn: 1, callId: 'c', name: 'run', verb: 'run', label: '', status: 'ok', exitCode: 0, detail: '', durationMs: 1 } as const
  progress({ kind: 'session', update: { kind: 'tool-settled', ...tool } as never })
  const queue = countRings(createInProcessQueue(), meters)
  expect(await queue.ring('t', 1)).toBe('lost')
  const heard = Promise.withResolvers<string>()
  queue.listen(heard.resolve)
  expect([await queue.ring('t', 1), await heard.promise, queue.health()]).toEqual(['rung', 't', { kind: 'in-process' }])
  await queue.close()
  expect(await linesOf(meters)).toEqual([
    'grokbot_claims_total{kind="new"} 1',
    'grokbot_claims_total{kind="recovered"} 1',
    'grokbot_claims_total{kind="exhausted"} 1',
    'grokbot_outcomes_total{outcome="succeeded"} 1',
    'grokbot_model_answers_total 1',
    'grokbot_model_retries_total 1',
    'grokbot_tool_calls_total{verb="run",status="ok"} 1',
    'grokbot_rings_total{result="rung"} 1',
    'grokbot_rings_total{result="lost"} 1',
    'grokbot_rings_total{result="heard"} 1',
  ])
})

test('figures of a ledger that can not be read are no number, and never those of before', async () => {
  const meters = await openMetersOf('app')
  await readInstallation(meters.set, { queueFigures: async () => figures })
  readQueue(meters.set, { kind: 'redis', state: 'refused', reason: 'no', heardAt: null, waiting: null })
  const before = await linesOf(meters)
  expect(before).toEqual([
    'grokbot_deliveries_pending 2',
    'grokbot_tasks{state="waiting"} 3',
    'grokbot_tasks{state="running"} 1',
    'grokbot_tasks_waiting_oldest_seconds 1.5',
    'grokbot_effects{state="in-flight"} 4',
    'grokbot_effects{state="unknown"} 5',
    'grokbot_queue{state="refused"} 1',
    'grokbot_queue_rings_waiting Nan',
  ])
  await readInstallation(meters.set, { queueFigures: () => Promise.reject(new Error('locked')) })
  expect((await linesOf(meters)).map(line => line.replace(/ [^ ]*$/, ''))).toEqual(
    expect.arrayContaining([...before.slice(0, 6).map(line => line.replace(/ [^ ]*$/, '')), 'grokbot_deliveries_pending_oldest_seconds']),
  )
  expect((await linesOf(meters)).filter(line => / Nan$/.test(line))).toHaveLength(8)
})

test('an event loop that stands still is seen in the next reading, and only in that one', async () => {
  const meters = await openMetersOf('worker')
  const watched = watchProcess(meters.set, { version: '1', role: 'worker' })
  const lag = async () => {
    watched.read()
    return Number((await linesOf(meters)).find(line => line.startsWith('grokbot_event_loop_lag_seconds{quantile="1"}'))?.split(' ')[1] ?? 0)
  }
  await sleep(100)
  for (const until = performance.now() + 1_000; performance.now() < until; );
  await sleep(50)
  expect(await lag()).toBeGreaterThan(0.9)
  await sleep(100)
  expect(await lag()).toBeLessThan(0.9)
  watched.stop()
})
