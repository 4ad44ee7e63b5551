import { mkdir, rmdir } from 'node:fs/promises'
import path from 'node:path'
import { removeRun } from '../git/index.ts'
import type { Claim } from '../ledger/index.ts'
import { passable } from '../sandbox/index.ts'
import { crashpoint } from '../telemetry/index.ts'
import { workerLimits } from './limits.ts'
import { sandboxPlaceOf } from './open-task-workspace.ts'
import type { WorkerPorts } from './ports.ts'
import { beginProbe, type Probe } from './probe-sandbox.ts'
import { startProgressComment } from './progress-comment.ts'
import { openSessionRoom } from './session-room.ts'
import { deadlineReached } from './stopped.ts'
import type { OpeningTask, Task } from './task.ts'
import { taskFolder } from './task-folder.ts'
import { openTaskLog } from './task-log.ts'
import { walkOf } from './walk.ts'

/** Opens one attempt: its log, its limits, its folders. Folders of earlier attempts of the task are leftovers and go first. */
export async function openTask(claim: Claim, cancel: AbortSignal, ports: WorkerPorts): Promise<Task> {
  const log = await openTaskLog(ports.ledger, { taskId: claim.taskId, attempt: claim.attempt, actor: ports.owner, now: ports.now })
  const { accepted, attempts } = log.state()
  if (accepted === null) throw new Error(`task ${claim.taskId} was claimed but never accepted`)
  if (attempts.at(-1)?.attempt !== claim.attempt) {
    await log.record({
      type: 'attempt.started',
      commandId: `${claim.taskId}:attempt-${claim.attempt}`,
      payload: { owner: ports.owner, recovers: claim.recovers },
    })
  }
  const runDir = path.join(ports.dataDir, 'runs', claim.taskId, String(claim.attempt))
  const taskDir = taskFolder(ports.dataDir, claim.taskId)
  const walk = walkOf(log.state(), taskDir, claim.exhausted)
  // A task that only gets its end needs no folder, and must not fail for want of one.
  if (walk !== 'end-only') await makeFolders(runDir, taskDir)
  // Waiting has a limit of its own (`deadlineAt`); the time to work counts from the first attempt.
  const deadlineAt = Math.min(accepted.deadlineAt, (log.state().attempts[0]?.at ?? ports.now()) + accepted.limits.wallMs)
  const deadline = startDeadline(deadlineAt - ports.now())
  const task = {
    id: claim.taskId,
    attempt: claim.attempt,
    accepted,
    walk,
    log,
    ports,
    settings: await ports.settings(),
    deadlineAt,
    runDir,
    taskDir,
    stop: AbortSignal.any([cancel, deadline.signal]),
    clearDeadline: deadline.clear,
  }
  const room = openSessionRoom({
    place: ports.sessionPlace,
    ahead: walk === 'whole' && log.state().change === null,
    graceMs: task.settings.limits.cancelGraceMs,
  })
  return { ...task, room, comment: startProgressComment(task), probe: startProbe(task) }
}

async function makeFolders(runDir: string, taskDir: string): Promise<void> {
  await removeRun(path.dirname(runDir))
  // Passable, not listable: a sandbox's user must reach its own folder below and nothing beside it.
  for (const folder of [path.dirname(path.dirname(runDir)), path.dirname(runDir), runDir]) passable(folder)
  await mkdir(taskDir, { recursive: true, mode: 0o700 })
}

/** None where an earlier attempt has recorded the sandbox, or none is needed. */
function startProbe(task: OpeningTask): Probe | null {
  if (task.walk !== 'whole' || task.log.state().workspace) return null
  return beginProbe(sandboxPlaceOf(task, task.ports.user), task.accepted.grant.profile, path.join(task.runDir, 'probe'))
}

/** The whole task's time, over all attempts; its timer keeps no process alive. */
function startDeadline(leftMs: number): { signal: AbortSignal; clear(): void } {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(deadlineReached), Math.min(Math.max(0, leftMs), workerLimits.timerMsMax)).unref()
  return { signal: controller.signal, clear: () => clearTimeout(timer) }
}

export async function closeTask(task: Task): Promise<void> {
  task.clearDeadline()
  await task.comment.stop()
  await Promise.all([task.probe?.gone, task.room.close()])
  await removeRun(task.runDir)
  crashpoint('cleanup.halfDone')
  await removeEmpty(path.dirname(task.runDir))
}

/** Of an attempt that was slow and lost its task, the next one works there already, in a folder of its own. */
async function removeEmpty(folder: string): Promise<void> {
  await rmdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST' && error.code !== 'ENOENT') throw error
  })
}
