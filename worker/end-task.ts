import { endOfCancel, type TaskState } from '../domain/index.ts'
import { redact } from '../telemetry/index.ts'
import type { TaskEnd } from './decide-end.ts'
import { cutShort, deliveryWords } from './delivery-words.ts'
import { finishCheckRun } from './finish-check-run.ts'
import { Gone } from './gone.ts'
import { report } from './report.ts'
import { markStale } from './stale-bundles.ts'
import { Stopped } from './stopped.ts'
import type { Task } from './task.ts'
import { OwnershipLost } from './task-log.ts'
import { writeTaskBundle } from './write-bundle.ts'

/** What stopped the road before its end: a person, the clock, this worker, or a fault of ours. */
export async function endBroken(task: Task, error: unknown): Promise<TaskState> {
  if (error instanceof OwnershipLost) throw error
  if (error instanceof Stopped) return await endStopped(task, error)
  if (error instanceof Gone) return await endTask(task, { outcome: 'failed', reason: error.message, summary: '' })
  // It is recorded, signed and posted: nothing that looks like a credential may stand in it.
  const message = redact(error instanceof Error ? error.message : String(error))
  task.ports.logger.error({ error, task: task.id }, 'task broke')
  const { cancel, attempts } = task.log.state()
  // This attempt only was to keep what was done before the cancel: that it could not does not undo the cancel.
  if (cancel && cancel.at <= (attempts.at(-1)?.at ?? 0)) {
    const { outcome, reason } = endOfCancel(cancel)
    const lost = `what was done by then could not be collected: ${message}`
    return await endTask(task, { outcome, reason: `${reason}; ${lost}`, summary: '' })
  }
  return await endTask(task, { outcome: 'errored', reason: message, summary: '' })
}

async function endStopped(task: Task, stopped: Stopped): Promise<TaskState> {
  if (stopped.kind === 'handed-back') throw stopped
  const { cancel } = await task.log.refresh()
  const summary = task.log.state().session?.ended?.text ?? ''
  if (stopped.kind === 'switched-off')
    return await endTask(task, { outcome: 'cancelled', reason: 'the operator switched runs off', summary })
  if (stopped.kind === 'deadline') return await endTask(task, { outcome: 'timed-out', reason: 'the time was up', summary })
  return await endTask(task, { ...endOfCancel(cancel ?? { by: 'a signal', reason: '' }), summary })
}

/** Records the outcome and writes the bundle. Safe to repeat: an outcome is recorded once. */
export async function endTask(task: Task, end: TaskEnd): Promise<TaskState> {
  const { outcome } = end
  // Both may be the words of a model or of its endpoint, which may repeat the key it was given.
  const [reason, summary] = [redact(end.reason), redact(end.summary)]
  const patchOnly = end.patchOnly === undefined ? {} : { patchOnly: redact(end.patchOnly) }
  if (task.log.state().outcome === null) {
    const words = { outcome, reason, summary, ...patchOnly }
    const said = await task.comment.finish(words)
    await finishCheckRun(task, words, said === 'left')
    const delivered = cutShort(end) ? deliveryWords(task.log.state()) : null
    const payload = { ...words, ...(delivered === null ? {} : { delivered }) }
    await markStale(task.taskDir, task.log.state().seq + 1).catch(error => {
      task.ports.logger.warn({ error, task: task.id }, 'a bundle could not be announced; if this process dies now, none is made')
    })
    await task.log.record({ type: 'task.ended', commandId: `${task.id}:ended`, payload })
  }
  await writeTaskBundle(task.id, task.taskDir, task.ports, task.log.state()).catch(error => {
    task.ports.logger.error({ error, task: task.id }, 'the bundle could not be written; the sweep tries again')
  })
  report(task, { kind: 'ended', outcome: task.log.state().outcome?.outcome ?? outcome, reason })
  return task.log.state()
}
