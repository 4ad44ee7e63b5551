import { type EffectState, foldTask, type NewEvent, type ProblemCode, type TaskState } from '../domain/index.ts'
import {
  applyEffect,
  type DuePorts,
  type EffectPorts,
  type EffectProposal,
  effectId,
  findOpenPlaces,
  type Intent,
  noGit,
  resumeEffect,
  type Settled,
  settleByReadBack,
  tryByInstallation,
} from '../effects/index.ts'
import type { GitHubApp, WriteLimits } from '../github/index.ts'
import { appendBehind, type Ledger } from '../ledger/index.ts'
import { appLimits } from './limits.ts'

export type OutboxPorts = DuePorts & {
  ledger: Ledger
  github: GitHubApp
  markerKey: Uint8Array
  limits(): OutboxLimits
  now(): number
}

export type OutboxLimits = WriteLimits & { readBackGapMs: number; effectGiveUpMs: number; deliveryDrainMs: number }

/**
 * Does what the app's half has recorded and not yet done: reactions, refusals, help. Level-triggered: it reads the ledger,
 * so a lost ring or a killed process only costs time. While one installation has to wait it looks again for the others. One
 * outbox a data folder; returns how many tasks it touched.
 */
export async function sendOutbox(ports: OutboxPorts): Promise<number> {
  return await tryByInstallation(
    passedOver => findTasks(passedOver, ports),
    (taskId, sleep) => sendFor(taskId, { ...ports, sleep }),
    { ...ports, lookGapMs: ports.limits().deliveryDrainMs },
  )
}

/** With the installation each is of. */
async function findTasks(passedOver: number, ports: OutboxPorts): Promise<Map<string, number>> {
  const { ledger, backOff, limits, now } = ports
  const youngSince = now() - limits().effectGiveUpMs
  const { effectsOfTaskMax, repliesAtOnceMax } = appLimits
  const open = await findOpenPlaces({ attempt: 'app', updatedBefore: now() + 1, youngSince, effectsOfTaskMax, passedOver }, ports)
  const limit = repliesAtOnceMax + backOff.waiting() + passedOver
  const replies = await ledger.tasks({ state: 'waiting', needsWorker: false, limit })
  for (const { taskId } of replies) if (!open.has(taskId)) open.set(taskId, await installationOf(taskId, ports))
  return open
}

async function installationOf(taskId: string, { ledger }: OutboxPorts): Promise<number> {
  const [first] = await ledger.readEvents(taskId, 0, 1)
  const isKnown = first?.type === 'task.accepted' || first?.type === 'task.refused'
  return (isKnown && first.payload?.installationId) || noInstallation
}

const noInstallation = 0

/** False: something of it is still not settled, and is looked at again later. */
async function sendFor(taskId: string, ports: OutboxPorts): Promise<boolean> {
  const before = foldTask(await ports.ledger.readEvents(taskId))
  let done = true
  for (const [id, effect] of Object.entries(before.effects).filter(([, effect]) => effect.attempt === 0)) {
    if (ports.stop.aborted) return false
    const settled = await sendOne(taskId, id, effect, ports)
    if (settled.kind !== 'settled' || settled.state === 'unknown') done = false
  }
  const state = foldTask(await ports.ledger.readEvents(taskId))
  const row = await ports.ledger.task(taskId)
  const isOpen = Object.values(state.effects).some(({ attempt, state: at }) => attempt === 0 && (at === 'prepared' || at === 'dispatched'))
  if (row && row.state !== 'ended' && !row.needsWorker && !isOpen) await endReply(taskId, state, ports)
  return done
}

/** An answer that comes days late helps nobody: what could not be done for that long is only looked for. */
async function sendOne(taskId: string, id: string, effect: EffectState, ports: OutboxPorts): Promise<Settled> {
  const effectPorts = effectPortsOf(taskId, ports)
  const tooOld = effect.preparedAt < ports.now() - ports.limits().effectGiveUpMs
  const isQueued = effect.kind === 'progress' && effect.key === 'progress-1'
  if (!tooOld && effect.state !== 'unknown' && !isQueued) return await resumeEffect(taskId, id, effect, effectPorts)
  const settled =
    tooOld || effect.state === 'unknown'
      ? await settleByReadBack(taskId, id, effect, 'it could not be done in time', effectPorts)
      : await sendQueued(taskId, id, effect, ports)
  const last = isQueued ? await lastText(taskId, effect, settled, ports) : null
  return last ? await applyEffect(taskId, last, null, effectPorts) : settled
}

/**
 * Nobody is told that a task waits which has ended, however long the turn to say so took. While it is worked on the comment
 * is still made: its worker waits for it and goes on in it.
 */
async function sendQueued(taskId: string, id: string, effect: EffectState, ports: OutboxPorts): Promise<Settled> {
  const effectPorts = effectPortsOf(taskId, ports)
  const isOpen = async () => (await ports.ledger.task(taskId))?.state !== 'ended'
  const sent = (await isOpen()) ? await resumeEffect(taskId, id, effect, { ...effectPorts, holds: isOpen }) : null
  if (sent !== null && (sent.kind !== 'fenced' || (await isOpen()))) return sent
  const known = foldTask(await ports.ledger.readEvents(taskId)).effects[id] ?? effect
  return await settleByReadBack(taskId, id, known, 'its task has ended', effectPorts)
}

/** For the comment that was on its way when its task ended; null: it is not, or its worker has seen to it. */
async function lastText(taskId: string, queued: EffectState, settled: Settled, { ledger }: OutboxPorts): Promise<EffectProposal | null> {
  const commentId = settled.kind === 'settled' && settled.state === 'confirmed' ? settled.remote['id'] : null
  const { accepted, outcome, effects } = foldTask(await ledger.readEvents(taskId))
  const proposal = { kind: 'progress', ordinal: 2 } as const
  if (typeof commentId !== 'number' || outcome === null || effects[effectId(taskId, proposal)] !== undefined) return null
  const body = `**grok ${accepted?.command.verb}** — ended: ${outcome.outcome}`
  return { ...proposal, intent: { ...(queued.intent as Intent<'progress'>), commentId, body } }
}

/** A task without a worker ends when its reply is out, or could not get out. */
async function endReply(taskId: string, state: TaskState, ports: OutboxPorts): Promise<void> {
  const refused = state.refused
  const lost = Object.values(state.effects).find(
    effect => effect.state !== 'confirmed' && (effect.kind === 'comment' || effect.kind === 'reply'),
  )
  const payload = refused
    ? ({ outcome: 'refused', code: refused.reason, reason: refused.reason, summary: refused.words } as const)
    : lost
      ? ({ outcome: 'failed', code: lostCodes[lost.state === 'unknown' ? 'unknown' : 'gone'], reason: lost.reason, summary: '' } as const)
      : ({ outcome: 'succeeded', reason: 'replied', summary: '' } as const)
  await appendAsApp(taskId, [{ type: 'task.ended', commandId: `${taskId}:ended`, payload }], ports)
}

const lostCodes = { unknown: 'answer-unknown', gone: 'answer-not-posted' } as const satisfies Record<string, ProblemCode>

async function appendAsApp(taskId: string, events: readonly NewEvent[], { ledger, now }: OutboxPorts): Promise<'recorded' | 'fenced'> {
  const batch = { taskId, attempt: 0, actor: 'app', now, events }
  const result = await appendBehind(ledger, batch, async () => (await ledger.task(taskId))?.lastSeq ?? null)
  return result.kind === 'appended' ? 'recorded' : 'fenced'
}

function effectPortsOf(taskId: string, ports: OutboxPorts): EffectPorts {
  return {
    record: events => appendAsApp(taskId, events, ports),
    holds: async () => true,
    mint: async request => (await ports.github.mint(request)).token,
    api: token => ports.github.api(token),
    botLogin: async () => (await ports.github.identity()).botLogin,
    git: noGit('the app pushes nothing'),
    markerKey: ports.markerKey,
    sleep: ports.sleep,
    readBackGapMs: ports.limits().readBackGapMs,
    // Refusals and replies are what anybody can cause; results come from workers.
    writes: { pace: ports.github.pace, limits: ports.limits(), courtesy: true },
  }
}
