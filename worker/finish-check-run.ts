import { effectId, markRunning, preparedEvent, sleepUnlessStopped } from '../effects/index.ts'
import { apply } from './apply.ts'
import { checkRunEnd, checkRunId, isUnderWay } from './check-run.ts'
import type { TaskEnd } from './decide-end.ts'
import { type EffectTask, effectPortsOf } from './effect-ports.ts'
import { threadOf } from './last-words.ts'
import { workerLimits } from './limits.ts'
import { orLeave } from './or-leave.ts'
import { viewOf } from './words-of-end.ts'

/**
 * Before the outcome is recorded, so that no killed process leaves it open. The app's half may still be making it: that is
 * waited for a moment, and then the sweep finishes it. `away`: GitHub was, a moment ago.
 */
export async function finishCheckRun(task: EffectTask, end: TaskEnd, away: boolean): Promise<void> {
  if (task.ports.github === null) return
  await waitForFirst(task)
  const proposal = checkRunEnd(viewOf(task, end))
  if (proposal === null) return
  const isNew = task.log.state().effects[effectId(task.id, proposal)] === undefined
  if (!away && !isUnderWay(task.log.state())) await orLeave(task, () => apply(task, null, proposal))
  else if (isNew) await task.log.record(preparedEvent(task.id, proposal))
}

async function waitForFirst(task: EffectTask): Promise<void> {
  const { checkRunWaitMs, checkRunLookMs } = workerLimits
  for (let waited = 0; isUnderWay(await task.log.refresh()) && waited < checkRunWaitMs; waited += checkRunLookMs) {
    if ((await sleepUnlessStopped(checkRunLookMs, task.stop)) === 'stopped') return
  }
}

/**
 * Shown from the moment the progress comment is; a task that is over before goes from queued to its end. `later`: the app is
 * still making it.
 */
export async function showRunning(task: EffectTask): Promise<'shown' | 'later'> {
  const state = await task.log.refresh()
  const id = checkRunId(state)
  // An earlier attempt may have finished it and died before the task was ended: it stays finished.
  const isFinished = state.effects[effectId(task.id, { kind: 'check-run', ordinal: 2 })] !== undefined
  if (id !== null && !isFinished)
    await markRunning(threadOf(state), id, `Asked by @${task.accepted.requester.login}.`, effectPortsOf(task, null))
  return isUnderWay(state) ? 'later' : 'shown'
}
