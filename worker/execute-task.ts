import type { TaskState } from '../domain/index.ts'
import type { Claim } from '../ledger/index.ts'
import { answer } from './answer.ts'
import { collectChange } from './collect-change.ts'
import { decideEnd, isStopped } from './decide-end.ts'
import { deliver } from './deliver.ts'
import { endBroken, endTask } from './end-task.ts'
import { judgeChange } from './judge-change.ts'
import { makeCommit } from './make-commit.ts'
import { closeTask, openTask } from './open-task.ts'
import { openTaskWorkspace } from './open-task-workspace.ts'
import type { WorkerPorts } from './ports.ts'
import { prepareBase } from './prepare-base.ts'
import { isQuestion } from './road.ts'
import { runChecks } from './run-checks.ts'
import { runTaskSession } from './run-task-session.ts'
import { goOn, switchedOff } from './stopped.ts'

/**
 * The second half of the road, from a claim to one recorded outcome. Every line first looks at what the ledger already
 * says and does only what is missing, so an attempt that follows a dead one walks the same road. Throws `OwnershipLost`
 * when a newer attempt took over, and `Stopped` when the task is handed back; whatever else breaks ends the task as
 * `errored` with all evidence kept. How far an attempt walks is decided once, when it is opened (`walk.ts`).
 */
export async function executeTask(claim: Claim, cancel: AbortSignal, ports: WorkerPorts): Promise<TaskState> {
  const task = await openTask(claim, cancel, ports)
  try {
    const base = await prepareBase(task)
    const place = await openTaskWorkspace(task, base)
    await runTaskSession(task, base, place)
    if (isQuestion(task)) return await endTask(task, await answer(task))
    const change = await collectChange(task, base, place)
    if (task.stop.reason === switchedOff || !task.log.state().session?.ended) goOn(task)
    if (isStopped(task.log.state())) return await endTask(task, decideEnd(task.log.state(), null))
    await runChecks(task, base, change, place)
    const verdict = await judgeChange(task, base, change)
    if (verdict.verdict === 'no-change') return await endTask(task, decideEnd(task.log.state(), null))
    const commit = await makeCommit(task, base, change)
    const delivered = await deliver(task, base, commit, place)
    return await endTask(task, decideEnd(task.log.state(), delivered))
  } catch (error) {
    return await endBroken(task, error)
  } finally {
    await closeTask(task).catch(error => ports.logger.warn({ error, task: task.id }, 'folders of an attempt are left to the sweep'))
  }
}
