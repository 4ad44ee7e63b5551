import type { EffectState, NewEvent, TaskState } from '../domain/index.ts'
import {
  applyEffect,
  type DuePorts,
  type EffectPorts,
  findOpen,
  noGit,
  resumeEffect,
  type Settled,
  settleByReadBack,
  tryDue,
} from '../effects/index.ts'
import { foldRecorded, type TaskRow } from '../ledger/index.ts'
import { isUnderWay } from './check-run.ts'
import { readBranch } from './effect-ports.ts'
import { isLastWord, wordsLeft } from './last-words.ts'
import { workerLimits } from './limits.ts'
import type { WorkerPorts } from './ports.ts'
import { markStale } from './stale-bundles.ts'
import { taskFolder } from './task-folder.ts'
import { writeTaskBundle } from './write-bundle.ts'

export type SweepPorts = Omit<WorkerPorts, 'sleep'> & DuePorts

/**
 * Effects that workers left open of tasks that have ended: the worker died, was stopped, or GitHub was away. What may have
 * been sent is looked for and settled; nothing is delivered any more, only the last words to the thread are still said.
 * Tasks that have not ended are not touched: their next attempt reads back what the one before it left.
 */
export async function sweepEffects(ports: SweepPorts): Promise<void> {
  const { limits } = await ports.settings()
  if (ports.github === null) return
  // Whoever recorded the end may still be at work on it.
  const [updatedBefore, youngSince] = [ports.now() - limits.leaseMs, ports.now() - limits.effectGiveUpMs]
  const { effectsOfTaskMax } = workerLimits
  const open = await findOpen({ attempt: 'worker', ended: true, updatedBefore, youngSince, effectsOfTaskMax }, ports)
  await tryDue(open, (taskId, sleep) => settleTask(taskId, { ...ports, sleep }), ports)
}

/** False: something of it is still not known. */
async function settleTask(taskId: string, ports: SweepPorts): Promise<boolean> {
  const row = await ports.ledger.task(taskId)
  if (row?.state !== 'ended' || row.erasedAt !== null) return true
  const before = await foldRecorded(ports.ledger, taskId)
  const effectPorts = await effectPortsOf(row, before.seq, ports)
  const folder = taskFolder(ports.dataDir, taskId)
  const outcomes: Settled[] = []
  for (const [id, effect] of Object.entries(before.effects).filter(([, effect]) => effect.attempt > 0)) {
    if (ports.stop.aborted) break
    outcomes.push(await settleOne(taskId, id, { effect, before }, ports, effectPorts))
  }
  if (!ports.stop.aborted) outcomes.push(...(await sayLastWords(taskId, ports, effectPorts)))
  await writeTaskBundle(taskId, folder, ports)
  if (ports.stop.aborted) return false
  return outcomes.every(settled => settled.kind === 'settled' && settled.state !== 'unknown')
}

async function settleOne(
  taskId: string,
  id: string,
  { effect, before }: { effect: EffectState; before: TaskState },
  { settings, now }: SweepPorts,
  effectPorts: EffectPorts,
): Promise<Settled> {
  // Not before it is known whether there is one already.
  if (effect.kind === 'check-run' && isUnderWay(before)) return { kind: 'stopped', sent: false }
  const { effectGiveUpMs } = (await settings()).limits
  const isYoung = effect.preparedAt > now() - effectGiveUpMs
  if (isLastWord(effect) && isYoung && effect.state !== 'unknown') return await resumeEffect(taskId, id, effect, effectPorts)
  return await settleByReadBack(taskId, id, effect, 'its task has ended', effectPorts)
}

async function sayLastWords(taskId: string, ports: SweepPorts, effectPorts: EffectPorts): Promise<Settled[]> {
  const { prefix, limits } = await ports.settings()
  const settings = { prefix, bodyCharactersMax: limits.bodyCharactersMax, link: ports.link }
  const settled: Settled[] = []
  for (const proposal of wordsLeft(taskId, await ports.ledger.readEvents(taskId), settings)) {
    if (ports.stop.aborted) break
    settled.push(await applyEffect(taskId, proposal, null, effectPorts))
  }
  return settled
}

/**
 * Fenced like an attempt: an ended task is never claimed again, so its newest attempt's number is the last one, and events
 * are only written behind the very event that was read last. Whoever comes second, in this process or another, finds the
 * log moved and leaves the task to the first.
 */
async function effectPortsOf({ taskId, attempts: attempt }: TaskRow, seq: number, ports: SweepPorts): Promise<EffectPorts> {
  const { ledger, github, markerKey, now, owner, sleep } = ports
  if (github === null) throw new Error('effects need a GitHub App')
  const { limits } = await ports.settings()
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
    mint: async request => (await github.mint({ ...request, for: { taskId, attempt } })).token,
    api: token => github.api(token),
    botLogin: async () => (await github.identity()).botLogin,
    git: { ...noGit('its task has ended'), readRef: readBranch(ports.stop) },
    markerKey,
    sleep,
    readBackGapMs: limits.readBackGapMs,
    writes: { pace: github.pace, limits },
  }
}
