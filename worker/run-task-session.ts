import type { SessionStart } from '../agent/index.ts'
import type { LimitValues } from '../config-schema/index.ts'
import { findCommand, type TaskState } from '../domain/index.ts'
import { modelSettingsOf } from './model-settings.ts'
import { type TaskPlace, treePlaceOf } from './open-task-workspace.ts'
import { report } from './report.ts'
import { restoreTree } from './restore-tree.ts'
import { isQuestion } from './road.ts'
import type { SessionOrder } from './session-order.ts'
import { Stopped, stopOf } from './stopped.ts'
import type { Base, Task } from './task.ts'
import { TaskFault } from './task-fault.ts'
import { OwnershipLost } from './task-log.ts'
import { inCode } from './words-of-end.ts'

/**
 * The conversation of this task, from where its events say it is. Its end is recorded by the session itself. A session
 * that had ended is opened once more while its change is not collected: that brings its files back, and asks nothing.
 */
export async function runTaskSession(task: Task, base: Base, place: TaskPlace): Promise<void> {
  const { cancel, change } = task.log.state()
  if (change) return
  const { ports } = task
  // Cancelled before it was opened: it brings its files back and ends, without a request or a command.
  const stop = cancel && !task.stop.aborted ? AbortSignal.abort(new Error('cancel was asked for')) : task.stop
  if (!cancel) report(task, { kind: 'stage', stage: 'session', detail: ports.model.model })
  task.comment.next(nextWords(base))
  // The record's work is in the work tree: made there by this session, or brought back by it.
  let holdsWork = !mayHaveWritten(task.log.state())
  const result = await task.room.run(orderOf(task, base, place), stop, message => {
    if (message.kind !== 'progress') return
    if (message.update.kind === 'resumed') holdsWork = true
    report(task, { kind: 'session', update: message.update })
  })
  await task.log.refresh()
  if (result.kind === 'ended-by-force') await leaveByForce(task, place, holdsWork)
  if (result.kind === 'handed-over') throw new Stopped('handed-back')
  if (result.kind === 'fenced') throw new OwnershipLost(`task ${task.id}: the session was fenced`)
  if (result.kind === 'config-error') throw new TaskFault('model-price-unset', `${result.key}: ${result.message}`)
}

function nextWords({ checks }: Base): string {
  return checks.commands.length === 0 ? '' : `checks ${checks.commands.map(command => `\`${inCode(command)}\``).join(', ')}`
}

/**
 * Its thread is gone and left no end, but what it had done is there and goes the way of every other stopped session's. A
 * work tree it had not brought back yet would be taken for "nothing was done": then the last snapshot stands for it.
 */
async function leaveByForce(task: Task, place: TaskPlace, holdsWork: boolean): Promise<void> {
  task.ports.logger.warn({ task: task.id }, 'the session did not end by itself after it was stopped; its thread was ended')
  const stopped = stopOf(task)
  if (stopped instanceof OwnershipLost || stopped.kind === 'handed-back') throw stopped
  const { setup, snapshot } = task.log.state()
  if (!holdsWork) await restoreTree(treePlaceOf(place), snapshot?.tree ?? setup?.baselineTree ?? place.workspace.baseTree)
}

/** The same question as the session's own when it resumes: only then does it bring files back, and says so. */
function mayHaveWritten({ session }: TaskState): boolean {
  return (session?.turns ?? []).some(turn => turn.calls.some(({ started }) => started !== null && !started.readOnly))
}

function orderOf(task: Task, base: Base, place: TaskPlace): SessionOrder {
  const { ports, settings } = task
  return {
    taskId: task.id,
    attempt: task.attempt,
    dataDir: ports.dataDir,
    start: startOf(task, base),
    endpoint: ports.model,
    place: treePlaceOf(place),
    baselineTree: task.log.state().setup?.baselineTree ?? place.workspace.baseTree,
    poolSize: settings.limits.sandboxPoolSize,
    runDir: place.sessionDir,
    crashpoint: ports.crashpoint,
  }
}

function startOf(task: Task, base: Base): Omit<SessionStart, 'recorded'> {
  const { accepted, ports, settings } = task
  const verb = findCommand(accepted.command.verb)?.verb ?? accepted.command.verb
  return {
    taskId: task.id,
    purpose: isQuestion(task) ? 'answer' : 'change',
    request: {
      text: `${settings.prefix} ${verb} ${accepted.command.text}`.trim(),
      requester: accepted.requester.login,
      subject: accepted.subject,
    },
    repository: repositoryOf(task, base),
    trust: { subject: accepted.subject?.trusted ? 'trusted' : 'untrusted', repository: accepted.pull?.fork ? 'untrusted' : 'trusted' },
    instructions: base.instructions,
    grant: { ...accepted.grant, profile: base.config.profile.value },
    limits: base.limits,
    deadlineAt: task.deadlineAt,
    tuning: tuningOf(settings.limits),
    network: 'none',
    family: 'grok_build',
    model: modelSettingsOf(ports.model.model, settings.operator.models?.[ports.model.model]),
  }
}

function repositoryOf({ accepted }: Task, base: Base): SessionStart['repository'] {
  const { repository, pull, subject } = accepted
  const place = { owner: repository.owner, name: repository.name, baseRef: accepted.base.ref, baseSha: base.sha }
  if (!pull || !subject) return place
  return { ...place, pull: { number: subject.number, headSha: base.start.sha, baseRef: pull.baseRef, baseSha: pull.baseSha } }
}

/** The operator's limits that are the session's own. */
function tuningOf(limits: LimitValues) {
  const { modelTriesMax, modelConnectMs, modelIdleMs, modelTotalMs, commandWallMs, commandWallMsMax, cancelGraceMs } = limits
  const graces = { toolGraceMs: Math.ceil(cancelGraceMs / 5), snapshotGraceMs: Math.ceil(cancelGraceMs / 10) }
  return { modelTriesMax, modelConnectMs, modelIdleMs, modelTotalMs, commandWallMs, commandWallMsMax, ...graces }
}
