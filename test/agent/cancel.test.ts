import { describe, expect, it, onTestFinished } from 'vitest'
import type { SessionPorts, SessionStart } from '../../agent/index.ts'
import type { NewEvent } from '../../domain/index.ts'
import type { FakeModel, ModelScript } from '../../simulator/index.ts'
import { type FolderSandbox, openFolderSandbox } from './folder-sandbox.ts'
import { type Ran, runIn } from './harness.ts'
import { useModel } from './shared-model.ts'

let model: FakeModel
useModel(fresh => {
  model = fresh
})

const never = new Promise<never>(() => {})
const command = (text: string) => ({ name: 'run_terminal_command', arguments: { command: text, description: 'x' } })

type Phase = {
  script: ModelScript
  ports?: (sandbox: FolderSandbox) => Partial<SessionPorts>
  start?: Partial<SessionStart>
  /** How many events of this type say that the phase has begun. */
  begun: [type: NewEvent['type'], count: number]
  /** Statuses of the calls, and the last event before the end. */
  statuses: string[]
  last: string
}

const phases: { [title: string]: Phase } = {
  'before the model answers': {
    begun: ['model.requested', 1],
    script: [{ text: 'x', fault: { kind: 'stall' } }],
    statuses: [],
    last: 'model.failed',
  },
  'in the middle of an answer': {
    begun: ['model.requested', 1],
    script: [{ text: 'x'.repeat(500), fault: { kind: 'stall', afterChunks: 5 } }],
    statuses: [],
    last: 'model.failed',
  },
  'while it waits for the next try': {
    begun: ['model.requested', 1],
    script: [{ fault: { kind: 'status', status: 503, times: 99 } }],
    start: { tuning: { backoffBaseMs: 30_000 } },
    statuses: [],
    last: 'model.failed',
  },
  'while a command runs': {
    begun: ['tool.started', 1],
    script: [{ toolCalls: [command('sleep 60')] }],
    statuses: ['cancelled'],
    last: 'tool.settled',
  },
  'while several commands run': {
    begun: ['tool.started', 2],
    script: [{ toolCalls: [command('sleep 60'), command('sleep 61')] }],
    statuses: ['cancelled', 'cancelled'],
    last: 'tool.settled',
  },
  'while a call waits for a command before it': {
    begun: ['tool.started', 2],
    script: [{ toolCalls: [command('sleep 60'), { name: 'write', arguments: { file_path: 'late.txt', content: 'x' } }] }],
    statuses: ['cancelled', 'cancelled'],
    last: 'tool.settled',
  },
  'while a tool does not come back at all': {
    begun: ['tool.started', 1],
    script: [{ toolCalls: [command('true')] }],
    ports: sandbox => ({ sandbox: { ...sandbox, run: () => never } }),
    statuses: ['cancelled'],
    last: 'tool.settled',
  },
  'while a hook does not come back': {
    begun: ['model.answered', 1],
    script: [{ toolCalls: [command('true')] }],
    ports: () => ({ hooks: [{ id: 'h', run: () => never }] }),
    start: { tuning: { hookMs: 60_000 } },
    statuses: ['cancelled'],
    last: 'tool.settled',
  },
  'while the kill switch does not answer': {
    begun: ['session.started', 1],
    script: [{ toolCalls: [command('true')] }],
    ports: () => ({ killSwitch: () => never }),
    statuses: [],
    last: 'session.started',
  },
  'while a tree is made, before the next command': {
    begun: ['model.answered', 2],
    script: [{ toolCalls: [command('true')] }, { toolCalls: [command('true')] }],
    ports: () => ({ snapshot: () => never }),
    statuses: ['ok', 'cancelled'],
    last: 'tool.settled',
  },
}

async function run(
  phase: Phase,
  more: Partial<SessionPorts>,
  start: Partial<SessionStart> = {},
  events: NewEvent[] = [],
): Promise<Ran & { sandbox: FolderSandbox }> {
  const sandbox = await openFolderSandbox()
  onTestFinished(() => sandbox.remove())
  model.script(phase.script)
  const ran = await runIn({ sandbox, model, events, ports: { ...phase.ports?.(sandbox), ...more }, start: { ...phase.start, ...start } })
  return { ...ran, sandbox }
}

/** Aborts a moment after the phase has begun, and says when that was. */
function cancelWhen([type, count]: Phase['begun'], events: readonly NewEvent[]): { signal: AbortSignal; at: () => number } {
  const cancel = new AbortController()
  let at = 0
  const timer = setInterval(() => {
    if (events.filter(event => event.type === type).length < count) return
    clearInterval(timer)
    setTimeout(() => {
      at = performance.now()
      cancel.abort('asked by mona')
    }, 150)
  }, 10)
  return { signal: cancel.signal, at: () => at }
}

describe('a cancel', () => {
  it.each(Object.entries(phases))('%s: ends in two seconds, with every call answered and the end recorded', async (_title, phase) => {
    const events: NewEvent[] = []
    const cancel = cancelWhen(phase.begun, events)
    const ran = await run(phase, { cancel: cancel.signal }, {}, events)
    expect(performance.now() - cancel.at()).toBeLessThan(2_000)
    expect(ran.result).toMatchObject({ kind: 'ended', reason: 'cancelled' })
    const types = ran.events.map(event => event.type).filter(type => type !== 'snapshot.taken')
    expect(types.slice(-2)).toEqual([phase.last, 'session.ended'])
    expect(ran.events.flatMap(event => (event.type === 'tool.settled' ? [event.payload.status] : []))).toEqual(phase.statuses)
    expect(await ran.sandbox.text('late.txt').catch(() => 'not written')).toBe('not written')
    model.assertNoRefusedRequests()
  })

  it('that came before the start asks nothing', async () => {
    const sandbox = await openFolderSandbox()
    onTestFinished(() => sandbox.remove())
    const { result, events } = await runIn({ sandbox, model, ports: { cancel: AbortSignal.abort('early') } })
    expect(result).toMatchObject({ reason: 'cancelled', turns: 0 })
    expect(events.map(event => event.type)).toEqual(['session.started', 'session.ended'])
    expect(model.requests).toHaveLength(0)
  })
})

describe('the deadline', () => {
  // The stop is the same signal whatever its reason: one phase of each owner is enough here.
  const some = [
    'before the model answers',
    'while it waits for the next try',
    'while a command runs',
    'while a tree is made, before the next command',
  ]
  it.each(Object.entries(phases).filter(([title]) => some.includes(title)))(
    '%s: ends the session the same way, as deadline',
    async (_title, phase) => {
      const endsAt = Date.now() + 500
      const ran = await run(phase, {}, { deadlineAt: endsAt })
      expect(Date.now() - endsAt).toBeLessThan(2_000)
      expect(ran.result).toMatchObject({ kind: 'ended', reason: 'deadline' })
    },
  )

  it('is the earlier of the task’s and the wall time since the session first started', async () => {
    const sandbox = await openFolderSandbox()
    onTestFinished(() => sandbox.remove())
    model.script([{ text: 'x', fault: { kind: 'stall' } }])
    const startedAt = Date.now()
    const { result } = await runIn({
      sandbox,
      model,
      start: { limits: { turnsMax: 5, wallMs: 300, tokensMax: 1_000_000, costMicroUsdMax: null } },
    })
    expect(result).toMatchObject({ reason: 'deadline' })
    expect(Date.now() - startedAt).toBeLessThan(2_000)
  })
})

describe('a pulled kill switch', () => {
  it('lets the calls of the answer be refused and ends before the next request', async () => {
    const sandbox = await openFolderSandbox()
    onTestFinished(() => sandbox.remove())
    model.script([{ toolCalls: [command('echo one')] }, { toolCalls: [command('echo two')] }, { text: 'never' }])
    const killSwitch: SessionPorts['killSwitch'] = () =>
      model.requests.length < 2 ? { kind: 'clear' } : { kind: 'pulled', reason: 'operator' }
    const { result, events } = await runIn({ sandbox, model, ports: { killSwitch } })
    expect(sandbox.commands).toEqual(['echo one'])
    expect(events.flatMap(event => (event.type === 'tool.settled' ? [event.payload.decision.rule] : []))).toEqual([
      'grant:run',
      'kill-switch',
    ])
    expect(result).toMatchObject({ reason: 'cancelled', text: 'The kill switch was pulled: operator', turns: 2 })
    expect(model.requests).toHaveLength(2)
  })

  it('or one that throws asks nothing', async () => {
    const sandbox = await openFolderSandbox()
    onTestFinished(() => sandbox.remove())
    const killSwitch = () => {
      throw new Error('the ledger is gone')
    }
    const { result } = await runIn({ sandbox, model, ports: { killSwitch } })
    expect(result).toMatchObject({ reason: 'cancelled', text: 'The kill switch could not be read.' })
    expect(model.requests).toHaveLength(0)
  })
})
