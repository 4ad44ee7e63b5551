import { cutShort, deliveryWords, endOfCancel, type TaskState } from '../domain/index.ts'
import { redact } from '../telemetry/index.ts'
import type { TaskEnd } from './decide-end.ts'
import { finishCheckRun } from './finish-check-run.ts'
import { Gone } from './gone.ts'
import { report } from './report.ts'
import { markStale } from './stale-bundles.ts'
import { Stopped } from './stopped.ts'
import type { Task } from './task.ts'
import { TaskFault } from './task-fault.ts'
import { OwnershipLost } from './task-log.ts'
import { writeTaskBundle } from './write-bundle.ts'

/** What stopped the road before its end: a person, the clock, this worker, or a fault of ours. */
export async function endBroken(task: Task, error: unknown): Promise<TaskState> {
  if (error instanceof OwnershipLost) throw error
  if (error instanceof Stopped) {
    if (error.kind === 'handed-back') {
      await task.comment.handBack()
      throw error
    }
    await task.log.refresh()
  } else if (!(error instanceof Gone)) task.ports.logger.error({ error, task: task.id }, 'task broke')
  return await endTask(task, endOfError(task.log.state(), error))
}

/** How a task ends whose road was not walked to its end. */
export function endOfError({ cancel, attempts, session }: TaskState, error: unknown): TaskEnd {
  if (error instanceof Stopped) return endOfStop({ cancel, session }, error)
  if (error instanceof Gone) return { outcome: 'failed', code: 'commit-gone', reason: error.message, summary: '' }
  // It is recorded, signed and posted: nothing that looks like a credential may stand in it.
  const message = redact(error instanceof Error ? error.message : String(error))
  // This attempt only was to keep what was done before the cancel: that it could not does not undo the cancel.
  if (cancel && cancel.at <= (attempts.at(-1)?.at ?? 0)) {
    const end = endOfCancel(cancel)
    const lost = `what was done by then could not be collected: ${message}`
    return { ...end, reason: `${end.reason}; ${lost}`, summary: '' }
  }
  return { outcome: 'errored', code: error instanceof TaskFault ? error.problem : 'task-broken', reason: message, summary: '' }
}

function endOfStop({ cancel, session }: Pick<TaskState, 'cancel' | 'session'>, { kind }: Stopped): TaskEnd {
  const summary = session?.ended?.text ?? ''
  if (kind === 'switched-off')
    return { outcome: 'cancelled', code: 'switched-off-meanwhile', reason: 'the operator switched runs off', summary }
  if (kind === 'deadline') return { outcome: 'timed-out', code: 'time-up', reason: 'the time was up', summary }
  return { ...endOfCancel(cancel ?? { by: 'a signal', reason: '' }), summary }
}

/** Records the outcome and writes the bundle. Safe to repeat: an outcome is recorded once. */
export async function endTask(task: Task, end: TaskEnd): Promise<TaskState> {
  const { outcome, code } = end
  // Both may be the words of a model or of its endpoint, which may repeat the key it was given.
  const [reason, summary] = [redact(end.reason), redact(end.summary)]
  const patchOnly = end.patchOnly === undefined ? {} : { patchOnly: redact(end.patchOnly) }
  if (task.log.state().outcome === null) {
    const words = { outcome, reason, summary, ...patchOnly, ...(code === undefined ? {} : { code }) }
    const said = await task.comment.finish(words)
    await finishCheckRun(task, words, said === 'left')
    const delivered = cutShort(end) ? deliveryWords(task.log.state()) : null
    const payload = { ...words, ...(delivered === null ? {} : { delivered }) }
    await markStale(task.taskDir, task.log.state().seq + 1).catch(error => {
      task.ports.logger.warn({ error, task: task.id }, 'a bundle could not be announced; if this process dies now, none is made')
    })
    await task.log.record({ type: 'task.ended', commandId: `${task.id}:ended`, payload })
    task.ports.logger.info({ task: task.id, outcome, code }, 'task ended')
  }
  await writeTaskBundle(task.id, task.taskDir, task.ports, task.log.state()).catch(error => {
    task.ports.logger.error({ error, task: task.id }, 'the bundle could not be written; the sweep tries again')
  })
  report(task, { kind: 'ended', outcome: task.log.state().outcome?.outcome ?? outcome, reason })
  return task.log.state()
}
