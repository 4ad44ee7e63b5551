import {
  type AcceptanceSettings,
  decideAcceptance,
  findCommand,
  needsWorker,
  overBudgetWords,
  type WrittenCommand,
} from '../domain/index.ts'
import { classifyError } from '../github/index.ts'
import type { Delivery, Ledger } from '../ledger/index.ts'
import type { Queue } from '../queue/index.ts'
import { crashpoint } from '../telemetry/index.ts'
import { cancelLane, closeLane } from './cancel-lane.ts'
import { commandOfButton, locateClick } from './check-run-button.ts'
import { type FactsPorts, type GatheredFacts, gatherFacts, isServed } from './gather-facts.ts'
import { type Ignored, ignored } from './ignored.ts'
import { parseCommands } from './parse-commands.ts'
import { type Decided, dayBudgetsOf, proposeTask, type TaskSettings } from './propose-task.ts'
import { readAccepted } from './read-accepted.ts'
import { type Asked, type EventRead, readEvent } from './read-event.ts'
import { renderReply } from './render-reply.ts'
import { type QueuedPorts, showQueued } from './show-queued.ts'
import { wasSaid } from './was-said.ts'

export type IntakeSettings = TaskSettings &
  AcceptanceSettings & { commandsPerCommentMax: number; commandTextBytesMax: number; refusalQuietMs: number }

export type IntakePorts = FactsPorts & {
  ledger: Ledger
  queue: Queue
  link: QueuedPorts['link']
  settings(): Promise<IntakeSettings>
  newTaskId(): string
  now(): number
  /** Told of what became of each delivery, for a front that shows it. */
  settled?(deliveryId: string, settled: SettledDelivery): void
}

/** `proposed`: commands that stood in it, whatever became of them. */
export type SettledDelivery = { proposed: number } & ({ kind: 'taken'; taken: readonly Taken[] } | Ignored)

export type Taken = { taskId: string; acceptance: Decided['acceptance']; known: boolean }

/**
 * The first half of the road: a stored delivery becomes accepted or refused tasks, then is settled. Safe to repeat from the
 * start at any point: a task's meaning key makes the second acceptance the first one.
 */
export async function takeDelivery(delivery: Delivery, ports: IntakePorts): Promise<Taken[]> {
  const settings = await ports.settings()
  crashpoint('intake.begun')
  const request = await readRequest(delivery, settings, ports)
  if (request.kind === 'ignored') return await ignore(delivery, request, ports)
  const { asked, commands, dropped } = request
  const proposed = commands.length + dropped
  const gathered = await gather(asked, settings.profile, ports)
  if ('reason' in gathered) return await ignore(delivery, gathered, ports, proposed)
  const taken: Taken[] = []
  // Whoever is only shown reactions is told nothing about the comment either.
  let isTold = false
  for (const command of commands) {
    const facts = { ...gathered.facts, botRuns: gathered.facts.botRuns + taken.filter(startsRun).length }
    const acceptance = decideAcceptance(command, facts, settings)
    if (acceptance.kind === 'ignored' && taken.length > 0) break
    if (acceptance.kind === 'ignored') return await ignore(delivery, ignored(acceptance.reason, acceptance.reason), ports, proposed)
    const saidBefore = acceptance.kind === 'refused' && (await wasSaid(asked, acceptance.reason, settings.refusalQuietMs, ports))
    isTold ||= !saidBefore
    const notes = isTold && command === commands.at(-1) ? droppedNotes(dropped, settings.commandsPerCommentMax) : []
    const reply = acceptance.kind === 'accepted' ? await renderReply(acceptance.row, asked, settings.prefix, ports) : null
    taken.push(await take({ deliveryId: delivery.id, asked, command, gathered, acceptance, reply, notes, saidBefore }, settings, ports))
  }
  const note = taken.map(({ taskId, acceptance }) => `${acceptance.kind} ${taskId}`).join(', ')
  await ports.ledger.settleDelivery(delivery.id, 'settled', note)
  ports.settled?.(delivery.id, { kind: 'taken', proposed, taken })
  return taken
}

type Request = { kind: 'asked'; asked: Asked; commands: readonly WrittenCommand[]; dropped: number } | Ignored

/** What a delivery asks for, as commands at a place. What is no request is done here: a thread that was closed. */
async function readRequest(delivery: Delivery, settings: IntakeSettings, ports: IntakePorts): Promise<Request> {
  const read = readEvent(delivery)
  if (read.kind === 'ignored') return read
  // Before anything is asked of GitHub: anybody can install a public App, and owners that are not served cost nothing.
  if (!isServed(placeOf(read).repository.owner, ports)) return ignored('owner-not-allowed', 'owner-not-allowed')
  switch (read.kind) {
    case 'closed': {
      const reason = `#${read.closed.subject.number} was closed`
      await closeLane(read.closed, reason, ports)
      return ignored('closed', reason)
    }
    case 'clicked': {
      const asked = await locateClick({ ...read.clicked, at: delivery.receivedAt }, (await ports.github.identity()).id, ports)
      if (asked.kind === 'ignored') return asked
      return { kind: 'asked', asked: asked.asked, commands: [commandOfButton(read.clicked)], dropped: 0 }
    }
    case 'asked': {
      const { slug } = await ports.github.identity()
      const { prefix, commandsPerCommentMax: commandsMax, commandTextBytesMax: textBytesMax } = settings
      const { commands, dropped } = parseCommands(read.asked.text, { prefix, slug, commandsMax, textBytesMax })
      if (commands.length === 0) return ignored('no-command', 'no command in it')
      return { kind: 'asked', asked: read.asked, commands: commands.filter(isFirstOfAnswer), dropped }
    }
  }
}

/**
 * What follows from nothing but the thread is answered once for a comment, whatever stands behind its word. What a cancel
 * does depends on where it stands.
 */
function isFirstOfAnswer({ word }: WrittenCommand, index: number, commands: readonly WrittenCommand[]): boolean {
  const row = findCommand(word)
  return row === null || needsWorker(row) || row.road === 'cancel' || commands.findIndex(other => findCommand(other.word) === row) === index
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
async function gather(asked: Asked, operatorProfile: string | null, ports: IntakePorts): Promise<GatheredFacts | Ignored> {
  try {
    return await gatherFacts(asked, operatorProfile, ports)
  } catch (error) {
    const fault = classifyError(error)
    // 401 is about our own key, and says nothing about the place.
    if (fault.kind !== 'rejected' || fault.status === 401) throw error
    return ignored('facts-refused', `its facts can not be read: GitHub said ${fault.status}`)
  }
}

function droppedNotes(dropped: number, commandsMax: number): string[] {
  if (dropped === 0) return []
  return [`${dropped} more ${dropped === 1 ? 'command was' : 'commands were'} not taken: one comment may have ${commandsMax}.`]
}

async function take(decided: Decided, settings: IntakeSettings, ports: IntakePorts): Promise<Taken> {
  const { acceptance } = decided
  const task = proposeTask(decided, ports.newTaskId(), ports.now(), settings)
  crashpoint('intake.beforeAccept')
  const result = await ports.ledger.acceptTask(task)
  crashpoint('intake.afterAccept')
  if (result.kind === 'over-budget')
    return await takeRefusal(decided, overBudgetWords(dayBudgetsOf(decided, ports.now(), settings), result), settings, ports)
  const { kind, taskId } = result
  // What was decided first counts, also where a role or a word has changed until it is taken again.
  const wasRefused = kind === 'known' && (await readAccepted(taskId, ports.ledger)) === null
  if (acceptance.kind === 'accepted' && !wasRefused) {
    if (acceptance.row.road === 'cancel') await cancelLane(decided.asked, decided.command.index, ports)
    if (needsWorker(acceptance.row)) await ring(taskId, task.priority, ports)
    // Whoever asked a question is told once: the answer.
    if (acceptance.row.road === 'fix') await showQueued(taskId, { ...decided, verb: acceptance.row.verb }, settings.prefix, ports)
  }
  return { taskId, acceptance, known: kind === 'known' }
}

/** A ring that is lost with this process costs a worker one look at the ledger. */
async function ring(taskId: string, priority: number, { queue }: IntakePorts): Promise<void> {
  crashpoint('queue.beforeRing')
  await queue.ring(taskId, priority)
  crashpoint('queue.afterRing')
}

/** What the ledger could not set the money aside for becomes a refusal, under the same meaning. */
async function takeRefusal(decided: Decided, why: string, settings: IntakeSettings, ports: IntakePorts): Promise<Taken> {
  const acceptance = { kind: 'refused', reason: 'budget', words: `Not started: ${why}.` } as const
  const saidBefore = await wasSaid(decided.asked, acceptance.reason, settings.refusalQuietMs, ports)
  return await take({ ...decided, acceptance, saidBefore }, settings, ports)
}

/** `proposed`: commands that stand in it. */
export async function ignore(delivery: Delivery, what: Ignored, { ledger, settled }: IntakePorts, proposed = 0): Promise<Taken[]> {
  await ledger.settleDelivery(delivery.id, 'ignored', what.reason)
  settled?.(delivery.id, { ...what, proposed })
  return []
}

function startsRun({ acceptance, known }: Taken): boolean {
  return !known && acceptance.kind === 'accepted' && needsWorker(acceptance.row)
}
