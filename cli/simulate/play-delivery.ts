import { setTimeout as sleep } from 'node:timers/promises'
import type { SettledDelivery } from '../../app/index.ts'
import type { EffectPhase, Outcome, RecordedEvent } from '../../domain/index.ts'
import { type Ledger, openSqliteLedger } from '../../ledger/index.ts'
import type { FakeGitHub } from '../../simulator/index.ts'
import type { Serving } from '../start-serve.ts'

/** One effect as GitHub saw it, in the order in which they were sent. */
export type PlayedEffect = {
  kind: string
  state: EffectPhase
  reason: string
  remote: Record<string, unknown> | null
  /** What people read of it; absent where there is nothing to read. */
  body?: string
}

export type Play = {
  acceptance: {
    kind: 'accepted' | 'refused' | 'ignored'
    reason?: string
    words?: string
    command?: { verb: string; text: string }
    /** The payload does not fit its event. */
    malformed?: true
  }
  effects: PlayedEffect[]
  outcome: Outcome | null
  reason: string | null
  /** Why there was no success, as a code of the catalogue. */
  code: string | null
  taskId: string | null
  /** More commands of the same comment. */
  more: { taskId: string; acceptance: Play['acceptance']; outcome: Outcome | null }[]
}

export type PlayPorts = {
  github: FakeGitHub
  dataDir: string
  start(ports: { dataDir: string; settled(deliveryId: string, settled: SettledDelivery): void }): Promise<Serving>
}

const settleWallMs = 60_000
const effectsWallMs = 15_000
const lookMs = 50

/** Delivers the payload, waits until what it asked for is over and every effect of it has settled, and tells what happened. */
export async function playDelivery(payload: object, event: string, { github, dataDir, start }: PlayPorts): Promise<Play> {
  let settled: SettledDelivery | null = null
  const serving = await start({ dataDir, settled: (_, what) => (settled = what) })
  const ledger = openSqliteLedger({ dataDir, durability: 'process', clock: Date.now })
  try {
    const answer = await github.deliver({ event, payload, to: serving.url })
    // Only what the receiver stored is ever looked at; the rest it answers at once, with its reason.
    if (!answer.responseBody.startsWith('recorded')) return ignoredPlay(answer.responseBody.trim() || answer.status)
    const decided = await waitFor(() => settled, settleWallMs, 'the delivery was stored and never taken')
    if (decided.kind === 'ignored') return ignoredPlay(decided.reason, decided.why === 'malformed' ? { malformed: true } : {})
    return await followTasks(decided.taken, ledger)
  } finally {
    await serving.close()
    await ledger.close()
  }
}

function ignoredPlay(reason: string, more: { malformed?: true } = {}): Play {
  return { acceptance: { kind: 'ignored', reason, ...more }, effects: [], outcome: null, reason: null, code: null, taskId: null, more: [] }
}

type Taken = Extract<SettledDelivery, { kind: 'taken' }>['taken'][number]

async function followTasks(taken: readonly Taken[], ledger: Ledger): Promise<Play> {
  const [first, ...others] = await Promise.all(taken.map(task => followTask(task, ledger)))
  if (!first) return ignoredPlay('no command in it')
  const effects = [first, ...others]
    .flatMap(task => task.effects)
    .sort((one, other) => one.sentAt - other.sentAt)
    .map(({ sentAt: _, ...effect }) => effect)
  const more = others.map(({ taskId, acceptance, outcome }) => ({ taskId, acceptance, outcome }))
  const { acceptance, outcome, reason, code, taskId } = first
  return { acceptance, effects, outcome, reason, code, taskId, more }
}

async function followTask({ taskId, acceptance }: Taken, ledger: Ledger) {
  const row = await ledger.task(taskId)
  const wallMs = Math.max(settleWallMs, (row?.deadlineAt ?? 0) - Date.now() + settleWallMs)
  const outcome = await waitFor(async () => (await ledger.task(taskId))?.outcome ?? null, wallMs, `the task ${taskId} did not end`)
  const events = await waitFor(
    async () => {
      const read = await ledger.readEvents(taskId)
      return openEffects(read) === 0 ? read : null
    },
    effectsWallMs,
    `an effect of ${taskId} did not settle`,
  )
  const ended = events.find(event => event.type === 'task.ended')
  const { reason = null, code = null } = ended?.payload ?? {}
  return { taskId, outcome, reason, code, acceptance: shown(acceptance, events), effects: effectsOf(events) }
}

function shown(acceptance: Taken['acceptance'], events: readonly RecordedEvent[]): Play['acceptance'] {
  const first = events[0]
  const asked = first?.type === 'task.accepted' || first?.type === 'task.refused' ? first.payload?.command : undefined
  const command = asked ? { command: { verb: asked.verb, text: asked.text } } : {}
  if (acceptance.kind === 'accepted') return { kind: 'accepted', ...command }
  return { kind: 'refused', reason: acceptance.reason, words: acceptance.words, ...command }
}

function openEffects(events: readonly RecordedEvent[]): number {
  return effectsOf(events).filter(({ state }) => state === 'prepared' || state === 'dispatched').length
}

/** By when each was first sent; one that never was stands where it was prepared. */
function effectsOf(events: readonly RecordedEvent[]): (PlayedEffect & { sentAt: number })[] {
  const effects = new Map<string, PlayedEffect & { sentAt: number }>()
  const sent = new Set<string>()
  for (const event of events) {
    if (event.type === 'effect.prepared' && event.payload) {
      const { effectId, kind, intent } = event.payload
      const body = typeof intent['body'] === 'string' ? { body: intent['body'] } : {}
      effects.set(effectId, { kind, state: 'prepared', reason: '', remote: null, ...body, sentAt: event.at })
    } else if (event.type === 'effect.dispatched' && event.payload) {
      const effect = effects.get(event.payload.effectId)
      if (!effect) continue
      effect.state = 'dispatched'
      if (!sent.has(event.payload.effectId)) effect.sentAt = event.at
      sent.add(event.payload.effectId)
    } else if (event.type === 'effect.settled' && event.payload) {
      const effect = effects.get(event.payload.effectId)
      if (effect) Object.assign(effect, { state: event.payload.state, reason: event.payload.reason, remote: event.payload.remote })
    }
  }
  return [...effects.values()].sort((one, other) => one.sentAt - other.sentAt)
}

async function waitFor<Result>(look: () => Result | null | Promise<Result | null>, wallMs: number, otherwise: string): Promise<Result> {
  const until = performance.now() + wallMs
  for (;;) {
    const found = await look()
    if (found !== null) return found
    if (performance.now() >= until) throw new Error(`${otherwise} within ${Math.round(wallMs / 1000)} s`)
    await sleep(lookMs)
  }
}
