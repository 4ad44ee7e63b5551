import { decideAcceptance } from '../domain/index.ts'
import { classifyError } from '../github/index.ts'
import { appendBehind, type Delivery, type Ledger } from '../ledger/index.ts'
import type { Queue } from '../queue/index.ts'
import { crashpoint } from '../telemetry/index.ts'
import { type FactsPorts, type GatheredFacts, gatherFacts, isServed } from './gather-facts.ts'
import { appLimits } from './limits.ts'
import { parseCommands } from './parse-commands.ts'
import { type Decided, laneOf, proposeTask, type TaskSettings } from './propose-task.ts'
import { type CommentEvent, readEvent } from './read-event.ts'
import { wasSaid } from './was-said.ts'

export type IntakePorts = FactsPorts & {
  ledger: Ledger
  queue: Queue
  settings(): Promise<TaskSettings & { commandsPerCommentMax: number; commandTextBytesMax: number; refusalQuietMs: number }>
  newTaskId(): string
  now(): number
  /** Told of what became of each delivery, for a front that shows it. */
  settled?(deliveryId: string, settled: SettledDelivery): void
}

export type SettledDelivery = { kind: 'taken'; taken: readonly Taken[] } | { kind: 'ignored'; reason: string }

export type Taken = { taskId: string; acceptance: Decided['acceptance']; known: boolean }

/**
 * The first half of the road: a stored delivery becomes accepted or refused tasks, then is settled. Safe to repeat from the
 * start at any point: a task's meaning key makes the second acceptance the first one.
 */
export async function takeDelivery(delivery: Delivery, ports: IntakePorts): Promise<Taken[]> {
  const read = readEvent(delivery)
  if (read.kind === 'ignored') return await ignore(delivery, read.reason, ports)
  // Before anything is asked of GitHub: anybody can install a public App, and owners that are not served cost nothing.
  if (!isServed(read.event.repository.owner, ports)) return await ignore(delivery, 'owner-not-allowed', ports)
  const settings = await ports.settings()
  const { slug } = await ports.github.identity()
  const { commands, dropped } = parseCommands(read.event.text, {
    prefix: settings.prefix,
    slug,
    commandsMax: settings.commandsPerCommentMax,
    textBytesMax: settings.commandTextBytesMax,
  })
  if (commands.length === 0) return await ignore(delivery, 'no command in it', ports)
  const gathered = await gather(read.event, settings.profile, ports)
  if ('reason' in gathered) return await ignore(delivery, gathered.reason, ports)
  const taken: Taken[] = []
  for (const command of commands) {
    const acceptance = decideAcceptance(command, gathered.facts, settings.prefix)
    if (acceptance.kind === 'ignored') return await ignore(delivery, acceptance.reason, ports)
    const notes = command === commands.at(-1) ? droppedNotes(dropped, settings.commandsPerCommentMax) : []
    const saidBefore = acceptance.kind === 'refused' && (await wasSaid(read.event, acceptance.reason, settings.refusalQuietMs, ports))
    const decided = { deliveryId: delivery.id, event: read.event, command, gathered, acceptance, notes, saidBefore }
    taken.push(await take(decided, settings, ports))
  }
  await ports.ledger.settleDelivery(
    delivery.id,
    'settled',
    taken.map(({ taskId, acceptance }) => `${acceptance.kind} ${taskId}`).join(', '),
  )
  ports.settled?.(delivery.id, { kind: 'taken', taken })
  return taken
}

/** A refusal of GitHub for good (the App was removed, the repository is gone) is an answer; anything else throws. */
async function gather(
  event: CommentEvent,
  operatorProfile: string | null,
  ports: IntakePorts,
): Promise<GatheredFacts | { reason: string }> {
  try {
    return await gatherFacts(event, operatorProfile, ports)
  } catch (error) {
    const fault = classifyError(error)
    // 401 is about our own key, and says nothing about the place.
    if (fault.kind !== 'rejected' || fault.status === 401) throw error
    return { reason: `its facts can not be read: GitHub said ${fault.status}` }
  }
}

function droppedNotes(dropped: number, commandsMax: number): string[] {
  if (dropped === 0) return []
  return [`${dropped} more ${dropped === 1 ? 'command was' : 'commands were'} not taken: one comment may have ${commandsMax}.`]
}

async function take(decided: Decided, settings: TaskSettings, ports: IntakePorts): Promise<Taken> {
  const task = proposeTask(decided, ports.newTaskId(), ports.now(), settings)
  crashpoint('intake.beforeAccept')
  const result = await ports.ledger.acceptTask(task)
  crashpoint('intake.afterAccept')
  // Nothing is reserved yet, so nothing can be over its budget; budgets come with the receiver's issue.
  if (result.kind === 'over-budget') throw new Error(`task ${task.taskId} is over the budget ${result.key}`)
  const { kind, taskId } = result
  if (decided.acceptance.kind === 'accepted' && decided.acceptance.row.road === 'cancel') await cancelLane(decided.event, taskId, ports)
  await ports.queue.ring(taskId, task.priority)
  return { taskId, acceptance: decided.acceptance, known: kind === 'known' }
}

/** Asks every other task of the same issue or pull request to stop; their worker sees the event within its sweep. */
async function cancelLane(event: CommentEvent, cancelTaskId: string, { ledger, now }: IntakePorts) {
  const laneKey = laneOf(event)
  for (const state of ['running', 'waiting'] as const) {
    for (const task of await ledger.tasks({ state, laneKey, limit: appLimits.lanesTasksMax })) {
      if (task.taskId !== cancelTaskId && (await isOlder(task.taskId, event, ledger)))
        await requestCancel(ledger, task.taskId, `@${event.actor.login}`, now())
    }
  }
}

/** A cancel that is taken late must not stop what was asked for after it. */
async function isOlder(taskId: string, event: CommentEvent, ledger: Ledger): Promise<boolean> {
  const [first] = await ledger.readEvents(taskId)
  return first?.type === 'task.accepted' && (first.payload?.commentId ?? 0) <= event.commentId
}

/** Appends `cancel.requested`; repeats only when somebody appended in between. False: the task had already ended. */
export async function requestCancel(ledger: Ledger, taskId: string, by: string, at: number): Promise<boolean> {
  const event = { type: 'cancel.requested', commandId: `${taskId}:cancel`, payload: { by, reason: 'asked to stop' } } as const
  const batch = { taskId, attempt: 0, actor: by, now: () => at, events: [event] }
  const result = await appendBehind(ledger, batch, async () => {
    const row = await ledger.task(taskId)
    return row === null || row.state === 'ended' ? null : row.lastSeq
  })
  return result.kind === 'appended'
}

async function ignore(delivery: Delivery, reason: string, { ledger, settled }: IntakePorts): Promise<Taken[]> {
  await ledger.settleDelivery(delivery.id, 'ignored', reason)
  settled?.(delivery.id, { kind: 'ignored', reason })
  return []
}
