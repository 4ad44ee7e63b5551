import { type AcceptanceSettings, decideAcceptance, needsWorker, type WrittenCommand } from '../domain/index.ts'
import { classifyError } from '../github/index.ts'
import { appendBehind, type Delivery, type Ledger } from '../ledger/index.ts'
import type { Queue } from '../queue/index.ts'
import { crashpoint } from '../telemetry/index.ts'
import { commandOfButton, locateClick } from './check-run-button.ts'
import { type FactsPorts, type GatheredFacts, gatherFacts, isServed } from './gather-facts.ts'
import { laneOf } from './lane.ts'
import { appLimits } from './limits.ts'
import { parseCommands } from './parse-commands.ts'
import { type Decided, proposeTask, type TaskSettings } from './propose-task.ts'
import { type Asked, type EventRead, readEvent } from './read-event.ts'
import { renderReply } from './render-reply.ts'
import { wasSaid } from './was-said.ts'

export type IntakeSettings = TaskSettings &
  AcceptanceSettings & { commandsPerCommentMax: number; commandTextBytesMax: number; refusalQuietMs: number }

export type IntakePorts = FactsPorts & {
  ledger: Ledger
  queue: Queue
  settings(): Promise<IntakeSettings>
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
  const settings = await ports.settings()
  const request = await readRequest(delivery, settings, ports)
  if (request.kind === 'ignored') return await ignore(delivery, request.reason, ports)
  const { asked, commands, dropped } = request
  const gathered = await gather(asked, settings.profile, ports)
  if ('reason' in gathered) return await ignore(delivery, gathered.reason, ports)
  const taken: Taken[] = []
  for (const command of commands) {
    const acceptance = decideAcceptance(command, gathered.facts, settings)
    if (acceptance.kind === 'ignored') return await ignore(delivery, acceptance.reason, ports)
    const notes = command === commands.at(-1) ? droppedNotes(dropped, settings.commandsPerCommentMax) : []
    const saidBefore = acceptance.kind === 'refused' && (await wasSaid(asked, acceptance.reason, settings.refusalQuietMs, ports))
    const reply = acceptance.kind === 'accepted' ? await renderReply(acceptance.row, asked, settings.prefix, ports) : null
    taken.push(await take({ deliveryId: delivery.id, asked, command, gathered, acceptance, reply, notes, saidBefore }, settings, ports))
  }
  const note = taken.map(({ taskId, acceptance }) => `${acceptance.kind} ${taskId}`).join(', ')
  await ports.ledger.settleDelivery(delivery.id, 'settled', note)
  ports.settled?.(delivery.id, { kind: 'taken', taken })
  return taken
}

type Request = { kind: 'asked'; asked: Asked; commands: readonly WrittenCommand[]; dropped: number } | { kind: 'ignored'; reason: string }

/** What a delivery asks for, as commands at a place. What is no request is done here: a thread that was closed. */
async function readRequest(delivery: Delivery, settings: IntakeSettings, ports: IntakePorts): Promise<Request> {
  const read = readEvent(delivery)
  if (read.kind === 'ignored') return read
  // Before anything is asked of GitHub: anybody can install a public App, and owners that are not served cost nothing.
  if (!isServed(placeOf(read).repository.owner, ports)) return { kind: 'ignored', reason: 'owner-not-allowed' }
  switch (read.kind) {
    case 'closed': {
      const { number } = read.closed.subject
      await endLane(laneOf(read.closed), { by: `@${read.closed.actor.login}`, reason: `#${number} was closed` }, null, ports)
      return { kind: 'ignored', reason: `#${number} was closed` }
    }
    case 'clicked': {
      const asked = await locateClick(read.clicked, (await ports.github.identity()).id, ports)
      if (asked.kind === 'ignored') return asked
      return { kind: 'asked', asked: asked.asked, commands: [commandOfButton(read.clicked)], dropped: 0 }
    }
    case 'asked': {
      const { slug } = await ports.github.identity()
      const { prefix, commandsPerCommentMax: commandsMax, commandTextBytesMax: textBytesMax } = settings
      const { commands, dropped } = parseCommands(read.asked.text, { prefix, slug, commandsMax, textBytesMax })
      return commands.length === 0
        ? { kind: 'ignored', reason: 'no command in it' }
        : { kind: 'asked', asked: read.asked, commands, dropped }
    }
  }
}

function placeOf(read: Exclude<EventRead, { kind: 'ignored' }>): Pick<Asked, 'repository'> {
  switch (read.kind) {
    case 'asked':
      return read.asked
    case 'clicked':
      return read.clicked
    case 'closed':
      return read.closed
  }
}

/** A refusal of GitHub for good (the App was removed, the repository is gone) is an answer; anything else throws. */
async function gather(asked: Asked, operatorProfile: string | null, ports: IntakePorts): Promise<GatheredFacts | { reason: string }> {
  try {
    return await gatherFacts(asked, operatorProfile, ports)
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
  const { acceptance } = decided
  const task = proposeTask(decided, ports.newTaskId(), ports.now(), settings)
  crashpoint('intake.beforeAccept')
  const result = await ports.ledger.acceptTask(task)
  crashpoint('intake.afterAccept')
  // Nothing is reserved yet, so nothing can be over its budget; budgets come with the receiver's issue.
  if (result.kind === 'over-budget') throw new Error(`task ${task.taskId} is over the budget ${result.key}`)
  const { kind, taskId } = result
  if (acceptance.kind === 'accepted') {
    if (acceptance.row.road === 'cancel') await cancelLane(decided.asked, taskId, ports)
    if (needsWorker(acceptance.row)) await ports.queue.ring(taskId, task.priority)
  }
  return { taskId, acceptance, known: kind === 'known' }
}

function cancelLane(asked: Asked, cancelTaskId: string, ports: IntakePorts): Promise<void> {
  const words = { by: `@${asked.actor.login}`, reason: 'asked to stop' }
  return endLane(laneOf(asked), words, { asked, taskId: cancelTaskId }, ports)
}

/**
 * Asks every task of an issue or pull request to stop; their worker sees the event within its sweep. `order`: the command
 * that asks for it, which stops nothing that was asked for after it.
 */
async function endLane(
  laneKey: string,
  words: { by: string; reason: string },
  order: { asked: Asked; taskId: string } | null,
  { ledger, now }: IntakePorts,
): Promise<void> {
  for (const state of ['running', 'waiting'] as const) {
    for (const task of await ledger.tasks({ state, laneKey, limit: appLimits.lanesTasksMax })) {
      if (!task.needsWorker || (order && !(await isOlder(task.taskId, order.asked, ledger)))) continue
      await requestCancel(ledger, task.taskId, words, now())
    }
  }
}

/** GitHub's clock has whole seconds; of two comments of the same one, the ids say which came first. */
async function isOlder(taskId: string, { createdAt, source }: Asked, ledger: Ledger): Promise<boolean> {
  const [first] = await ledger.readEvents(taskId)
  if (first?.type !== 'task.accepted' || first.payload === null) return false
  const { askedAt, commentId } = first.payload
  if (askedAt === createdAt && source.kind === 'comment' && commentId !== null) return commentId <= source.id
  return askedAt === undefined || askedAt <= createdAt
}

/** Appends `cancel.requested`; repeats only when somebody appended in between. False: the task had already ended. */
export async function requestCancel(ledger: Ledger, taskId: string, words: { by: string; reason: string }, at: number): Promise<boolean> {
  const event = { type: 'cancel.requested', commandId: `${taskId}:cancel`, payload: words } as const
  const batch = { taskId, attempt: 0, actor: words.by, now: () => at, events: [event] }
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
