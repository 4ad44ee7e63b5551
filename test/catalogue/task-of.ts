import { reasonText } from '../../cli/run/report.ts'
import { defaultLimits } from '../../config-schema/index.ts'
import { type EffectKind, type EffectState, emptyTaskState, isProblemCode, type TaskState } from '../../domain/index.ts'
import { effectId } from '../../effects/index.ts'
import { silentLogger } from '../../telemetry/index.ts'
import type { TaskEnd } from '../../worker/decide-end.ts'
import { renderEnded } from '../../worker/render-ended.ts'
import type { Task } from '../../worker/task.ts'
import { accepted, payloads, startedAt } from '../ledger/samples.ts'
import type { Provoked } from './provocation.ts'

export const taskId = 't_1'
export const sha = (digit: string) => digit.repeat(40)

/** A record that is made here, of a task that was proven on its way. */
export function stateOf(change: Partial<TaskState> = {}): TaskState {
  const empty = emptyTaskState()
  return {
    ...empty,
    accepted: { ...accepted, actor: 'github:7', at: startedAt },
    attempts: [{ attempt: 1, owner: 'worker-1', recovers: null, at: startedAt, quietMs: 0 }],
    session: { started: null, turns: [], openRequest: null, failures: [], ended: payloads['session.ended'] },
    change: payloads['change.collected'],
    verdict: { verdict: 'proven', reasons: [] },
    checks: { ...empty.checks, newCodeNewTests: [{ ...payloads['check.settled'], exitCode: 0, killedBy: null, counts: null }] },
    ...change,
  }
}

export function endedBy(reason: NonNullable<NonNullable<TaskState['session']>['ended']>['reason'], failure?: string): TaskState['session'] {
  const failures = failure === undefined ? [] : [{ ...payloads['model.failed'], kind: failure }]
  return { started: null, turns: [], openRequest: null, failures, ended: { reason, text: 'The last words.', turns: 1 } }
}

/** Effects that an earlier attempt has settled so: nothing is sent again, and their settlement is what counts. */
export function settled(
  ...effects: { kind: EffectKind; ordinal?: number; state: EffectState['state']; reason?: string; remote?: EffectState['remote'] }[]
): TaskState['effects'] {
  const at = { attempt: 1, preparedAt: startedAt, updatedAt: startedAt, tries: 1, intent: {}, foundByReadBack: false }
  return Object.fromEntries(
    effects.map(({ kind, ordinal = 1, state, reason = '', remote = {} }) => [
      effectId(taskId, { kind, ordinal } as Parameters<typeof effectId>[1]),
      { kind, key: `${kind}-${ordinal}`, state, reason, remote, ...at },
    ]),
  )
}

/** A task at work on that record, which reaches nothing but what a test gives it. */
export function taskOf(state: TaskState, more: { ports?: object; limits?: object } & Partial<Omit<Task, 'ports'>> = {}): Task {
  const { ports, limits, ...rest } = more
  const log = { state: () => state, refresh: async () => state, record: async () => undefined }
  const reached = {
    ...{ ledger: { switch: async () => null }, logger: silentLogger, now: () => startedAt, progress: () => undefined },
    ...{ github: null, link: null, tenants: 'one', ...ports },
  }
  const task = {
    ...{ id: taskId, attempt: 1, accepted: state.accepted, walk: 'whole', log, ports: reached, probe: null },
    ...{ stop: new AbortController().signal, deadlineAt: startedAt, runDir: '/nowhere', taskDir: '/nowhere' },
    settings: { prefix: '/grok', limits: { ...defaultLimits(), ...limits }, operator: { version: 1 } },
    comment: { doing: () => undefined, next: () => undefined, finish: async () => 'done', stop: async () => undefined },
    ...rest,
  }
  return task as unknown as Task
}

/** An end as its thread is told, and as the report of a run has it. */
export function said(state: TaskState, end: TaskEnd | null): Provoked & { report: string } {
  if (end === null) return { code: undefined, words: '', report: '' }
  const { outcome, reason, code } = end
  const words = renderEnded({ taskId, state, end, now: startedAt, links: null, prefix: '/grok', bodyCharactersMax: 58_000 })
  return { code, words: outcome === 'succeeded' ? '' : words, report: reasonText({ reason, code: isProblemCode(code) ? code : null }) }
}
