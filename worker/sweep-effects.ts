import { foldTask, type NewEvent, type TaskState } from '../domain/index.ts'
import {
  applyEffect,
  askedWaitOf,
  type BackOff,
  type EffectPorts,
  effectId,
  noGit,
  resumeEffect,
  type Settled,
  settleByReadBack,
} from '../effects/index.ts'
import type { TaskRow } from '../ledger/index.ts'
import { readBranch } from './effect-ports.ts'
import { lastWords, progressId } from './last-words.ts'
import type { WorkerPorts } from './ports.ts'
import { markStale } from './stale-bundles.ts'
import { taskFolder } from './task-folder.ts'
import { writeTaskBundle } from './write-bundle.ts'

export type SweepPorts = Omit<WorkerPorts, 'sleep'> & { backOff: BackOff; sleep: EffectPorts['sleep']; stop: AbortSignal }

const effectsAtOnceMax = 100
/** A push, a pull request, the progress comment and its last text; or a comment instead. */
const effectsOfTaskMax = 4

/**
 * Effects that workers left open of tasks that have ended: the worker died, was stopped, or GitHub was away. What may have
 * been sent is looked for and settled; nothing is delivered any more, only the last words to the thread are still said.
 * Tasks that have not ended are not touched: their next attempt reads back what the one before it left.
 */
export async function sweepEffects(ports: SweepPorts): Promise<void> {
  const { limits } = await ports.settings()
  const { ledger, backOff, now, logger } = ports
  if (ports.github === null) return
  // Whoever recorded the end may still be at work on it.
  const updatedBefore = now() - limits.leaseMs
  const window = { attempt: 'worker', ended: true, updatedBefore, limit: effectsAtOnceMax + backOff.waiting() * effectsOfTaskMax } as const
  const open = [
    ...(await ledger.openEffects({ ...window, states: 'in-flight' })),
    ...(await ledger.openEffects({ ...window, states: 'unknown', updatedAfter: now() - limits.effectGiveUpMs })),
  ]
  for (const taskId of new Set(open.map(effect => effect.taskId))) {
    if (ports.stop.aborted) return
    if (!backOff.due(taskId)) continue
    try {
      if (await settleTask(taskId, ports)) backOff.succeeded(taskId)
      else backOff.failed(taskId)
    } catch (error) {
      const waitMs = backOff.failed(taskId, askedWaitOf(error))
      logger.warn({ error, task: taskId, waitMs }, 'an effect of an ended task could not be settled; it is tried again')
    }
  }
}

/** False: something of it is still not known. */
async function settleTask(taskId: string, ports: SweepPorts): Promise<boolean> {
  const row = await ports.ledger.task(taskId)
  if (row?.state !== 'ended' || row.erasedAt !== null) return true
  const before = foldTask(await ports.ledger.readEvents(taskId))
  const effectPorts = await effectPortsOf(row, before.seq, ports)
  const folder = taskFolder(ports.dataDir, taskId)
  const outcomes: Settled[] = []
  for (const [id, effect] of Object.entries(before.effects).filter(([, effect]) => effect.attempt > 0)) {
    if (ports.stop.aborted) break
    outcomes.push(await settleOne(taskId, id, effect, ports, effectPorts))
  }
  if (!ports.stop.aborted) outcomes.push(...(await sayLastWords(taskId, ports, effectPorts)))
  await writeTaskBundle(taskId, folder, ports)
  if (ports.stop.aborted) return false
  return outcomes.every(settled => settled.kind === 'settled' && settled.state !== 'unknown')
}

async function settleOne(
  taskId: string,
  id: string,
  effect: TaskState['effects'][string],
  { settings, now }: SweepPorts,
  effectPorts: EffectPorts,
): Promise<Settled> {
  const { effectGiveUpMs } = (await settings()).limits
  const isLastWord = (effect.kind === 'progress' && id !== progressId(taskId)) || effect.kind === 'comment'
  const isYoung = effect.preparedAt > now() - effectGiveUpMs
  if (isLastWord && isYoung && effect.state !== 'unknown') return await resumeEffect(taskId, id, effect, effectPorts)
  return await settleByReadBack(taskId, id, effect, 'its task has ended', effectPorts)
}

/** A comment that turned out to be there still says "running"; one that is not there leaves a bad end unsaid. */
async function sayLastWords(taskId: string, ports: SweepPorts, effectPorts: EffectPorts): Promise<Settled[]> {
  const state = foldTask(await ports.ledger.readEvents(taskId))
  const { effects, outcome } = state
  const first = effects[progressId(taskId)]
  if (outcome === null || first === undefined || (first.state !== 'confirmed' && first.state !== 'rejected')) return []
  const proposal = lastWords(state, outcome, outcome.at, (await ports.settings()).prefix)
  if (proposal === null || effects[effectId(taskId, proposal)]) return []
  return [await applyEffect(taskId, proposal, null, effectPorts)]
}

/**
 * Fenced like an attempt: an ended task is never claimed again, so its newest attempt's number is the last one, and events
 * are only written behind the very event that was read last. Whoever comes second, in this process or another, finds the
 * log moved and leaves the task to the first.
 */
async function effectPortsOf({ taskId, attempts: attempt }: TaskRow, seq: number, ports: SweepPorts): Promise<EffectPorts> {
  const { ledger, github, markerKey, now, owner, sleep } = ports
  if (github === null) throw new Error('effects need a GitHub App')
  let expectedSeq = seq
  return {
    async record(events: readonly NewEvent[]) {
      // The bundle says what was pushed: a kill before it is written leaves it to the next sweep.
      await markStale(taskFolder(ports.dataDir, taskId), expectedSeq + events.length).catch(error =>
        ports.logger.warn({ error, task: taskId }, 'a bundle could not be marked as out of date'),
      )
      const result = await ledger.append({ taskId, attempt, actor: owner, at: now(), expectedSeq, events })
      if (result.kind !== 'appended') return 'fenced'
      expectedSeq = result.lastSeq
      return 'recorded'
    },
    holds: async () => {
      const row = await ledger.task(taskId)
      return row?.state === 'ended' && row.attempts === attempt && row.lastSeq === expectedSeq && row.erasedAt === null
    },
    mint: async request => (await github.mint(request)).token,
    api: token => github.api(token),
    botLogin: async () => (await github.identity()).botLogin,
    git: { ...noGit('its task has ended'), readRef: readBranch(ports.stop) },
    markerKey,
    sleep,
    readBackGapMs: (await ports.settings()).limits.readBackGapMs,
  }
}
