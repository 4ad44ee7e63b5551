import { foldTask, type NewEvent, type TaskState } from '../domain/index.ts'
import { applyEffect, type EffectPorts, type EffectProposal, type GitPort } from '../effects/index.ts'
import type { GitHubApp } from '../github/index.ts'
import type { Ledger } from '../ledger/index.ts'
import type { Logger } from '../telemetry/index.ts'

export type OutboxPorts = {
  ledger: Ledger
  github: GitHubApp
  markerKey: Uint8Array
  logger: Logger
  readBackGapMs: number
  now(): number
  sleep(ms: number): Promise<void>
}

const effectsAtOnceMax = 100

/**
 * Does what the app's half has recorded and not yet done: reactions, refusals, help. Level-triggered: it reads the ledger,
 * so a lost ring or a killed process only costs time. One outbox a data folder; returns how many tasks it touched.
 */
export async function sendOutbox(ports: OutboxPorts): Promise<number> {
  const open = await ports.ledger.openEffects({ attempt: 'app', updatedBefore: ports.now() + 1, limit: effectsAtOnceMax })
  const replies = await ports.ledger.tasks({ state: 'waiting', needsWorker: false, limit: effectsAtOnceMax })
  const taskIds = new Set([
    ...open.filter(effect => effect.state !== 'unknown').map(effect => effect.taskId),
    ...replies.map(task => task.taskId),
  ])
  for (const taskId of taskIds) {
    try {
      await sendFor(taskId, ports)
    } catch (error) {
      // One that GitHub does not take (an App that was removed) keeps no other from being sent.
      ports.logger.warn({ error, task: taskId }, 'an effect of the app could not be sent; it is tried again')
    }
  }
  return taskIds.size
}

async function sendFor(taskId: string, ports: OutboxPorts): Promise<void> {
  let state = foldTask(await ports.ledger.readEvents(taskId))
  for (const effect of Object.values(state.effects).filter(effect => effect.attempt === 0)) {
    const ordinal = Number(effect.key.split('-').at(-1))
    const proposal = { kind: effect.kind, ordinal, intent: effect.intent } as EffectProposal
    await applyEffect(taskId, proposal, effect, effectPortsOf(taskId, ports))
    state = foldTask(await ports.ledger.readEvents(taskId))
  }
  const row = await ports.ledger.task(taskId)
  if (row && row.state !== 'ended' && !row.needsWorker) await endReply(taskId, state, ports)
}

/** A task without a worker ends when its reply is out, or could not get out. */
async function endReply(taskId: string, state: TaskState, ports: OutboxPorts): Promise<void> {
  const refused = state.refused
  const lost = Object.values(state.effects).find(effect => effect.state !== 'confirmed' && effect.kind === 'comment')
  const payload = refused
    ? ({ outcome: 'refused', reason: refused.reason, summary: refused.words } as const)
    : lost
      ? ({ outcome: 'failed', reason: lost.reason, summary: '' } as const)
      : ({ outcome: 'succeeded', reason: 'replied', summary: '' } as const)
  await appendAsApp(taskId, [{ type: 'task.ended', commandId: `${taskId}:ended`, payload }], ports)
}

const racesMax = 20

async function appendAsApp(taskId: string, events: readonly NewEvent[], { ledger, now }: OutboxPorts): Promise<'recorded' | 'fenced'> {
  for (let race = 0; race < racesMax; race++) {
    const row = await ledger.task(taskId)
    const result = await ledger.append({ taskId, attempt: 0, actor: 'app', at: now(), expectedSeq: row?.lastSeq ?? 0, events })
    if (result.kind === 'appended') return 'recorded'
    if (result.kind === 'fenced') return 'fenced'
  }
  throw new Error(`task ${taskId}: an append lost ${racesMax} races in a row`)
}

function effectPortsOf(taskId: string, ports: OutboxPorts): EffectPorts {
  return {
    record: events => appendAsApp(taskId, events, ports),
    holds: async () => true,
    mint: async request => (await ports.github.mint(request)).token,
    api: token => ports.github.api(token),
    botLogin: async () => (await ports.github.identity()).botLogin,
    git: noGit,
    markerKey: ports.markerKey,
    sleep: ports.sleep,
    readBackGapMs: ports.readBackGapMs,
  }
}

const noGit: GitPort = {
  push: async () => ({ kind: 'rejected', reason: 'the app pushes nothing', remoteSha: null }),
  readRef: async () => null,
}
