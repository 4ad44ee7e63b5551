import { createHash } from 'node:crypto'
import {
  type Acceptance,
  type CommandRow,
  checkRunName,
  clipSubject,
  type DayBudgets,
  dayBudgets,
  findCommand,
  grantOf,
  isTrusted,
  type Limits,
  needsWorker,
  type TaskAccepted,
  type TaskRefused,
  type WrittenCommand,
} from '../domain/index.ts'
import { type EffectProposal, preparedEvent } from '../effects/index.ts'
import type { NewTask } from '../ledger/index.ts'
import type { GatheredFacts } from './gather-facts.ts'
import { laneOf } from './lane.ts'
import type { Asked } from './read-event.ts'

export type TaskSettings = {
  prefix: string
  limits: Limits
  wallMs: number
  /** How long it may wait for a worker. */
  waitMs: number
  /** The sandbox profile the operator has set; null = the command's own. */
  profile: string | null
  /** What is kept of an issue's title and body. */
  subjectBytesMax: number
  /** What a day may cost, in millionths of a dollar; null: it is only counted. */
  day: { repositoryDayMicroUsd: number | null; actorDayMicroUsd: number | null }
}

/**
 * The task a decided command becomes, with its first events and the app's own effects: the eyes reaction of an accepted
 * command, the sentence of a refused one, the answer of one that needs no worker. Pure: time and the new task's id are given.
 */
export function proposeTask(decided: Decided, taskId: string, now: number, settings: TaskSettings): NewTask {
  const { asked, command, acceptance } = decided
  const proposals = acceptance.kind === 'accepted' ? acceptedEffects(decided, acceptance.row, taskId) : refusedEffects(decided, acceptance)
  return {
    taskId,
    meaningKey: meaningOf(decided),
    laneKey: laneOf(asked),
    tenantKey: `i${asked.installationId}`,
    priority: 0,
    deliveryId: decided.deliveryId,
    needsWorker: acceptance.kind === 'accepted' && needsWorker(acceptance.row),
    actor: `github:${asked.actor.id}`,
    commandId: `${asked.source.kind}-${asked.source.id}-${command.index}`,
    acceptedAt: now,
    first:
      acceptance.kind === 'accepted'
        ? { type: 'task.accepted', payload: acceptedPayload(decided, acceptance, now, settings) }
        : { type: 'task.refused', payload: refusedPayload(decided, acceptance, settings) },
    more: proposals.map(proposal => preparedEvent(taskId, proposal)),
    budgets: acceptance.kind === 'accepted' && needsWorker(acceptance.row) ? dayBudgetsOf(decided, now, settings).budgets : [],
  }
}

export type Decided = {
  deliveryId: string
  asked: Asked
  command: WrittenCommand
  gathered: GatheredFacts
  acceptance: Exclude<Acceptance, { kind: 'ignored' }>
  /** The answer of a command that needs no worker; null = it has none. */
  reply: string | null
  /** Sentences about the comment that brought it, said with the answer. */
  notes: readonly string[]
  /** Whether the same person was told the same refusal in the same thread a short while ago. */
  saidBefore: boolean
}

/**
 * What makes two requests the same one, whatever deliveries brought them. A review that was submitted with several comments
 * is one request: the same words in two of them are one command. Each click on a button is a request of its own.
 */
function meaningOf({ asked, command, deliveryId }: Decided): string {
  const { source, reviewId, repository } = asked
  const what =
    source.kind === 'button'
      ? `button ${source.id}|${deliveryId}`
      : reviewId === null
        ? `${source.kind} ${source.id}|${command.index}`
        : `review ${reviewId}|${command.word.toLowerCase()} ${command.text}`
  return createHash('sha256').update(`${repository.id}|${what}`).digest('hex')
}

/** What a run sets aside of the day's money of its repository and of who asked for it. */
export function dayBudgetsOf({ asked }: Pick<Decided, 'asked'>, at: number, { limits, day }: TaskSettings): DayBudgets {
  const of = { repositoryId: asked.repository.id, actorId: asked.actor.id, at, limits: day }
  return dayBudgets({ ...of, reserveMicroUsd: limits.costMicroUsdMax ?? 0 })
}

function commonPayload({ asked, command, gathered }: Decided, { subjectBytesMax }: TaskSettings) {
  return {
    // What is no command is a stranger's text: it stands in the words of the refusal, which can be erased.
    command: { verb: findCommand(command.word)?.verb ?? 'unknown', text: command.text, index: command.index },
    requester: { login: asked.actor.login, id: asked.actor.id },
    repository: {
      id: asked.repository.id,
      owner: asked.repository.owner,
      name: asked.repository.name,
      url: gathered.cloneUrl,
      visibility: gathered.visibility,
      defaultBranch: gathered.facts.defaultBranch,
    },
    installationId: asked.installationId,
    subject: clipSubject({ ...asked.subject, trusted: gathered.facts.subjectTrusted }, subjectBytesMax),
    commentId: asked.source.kind === 'comment' ? asked.source.id : null,
    source: asked.source,
  }
}

function acceptedPayload(
  decided: Decided,
  { row, retries }: Extract<Acceptance, { kind: 'accepted' }>,
  now: number,
  settings: TaskSettings,
): TaskAccepted {
  const common = commonPayload(decided, settings)
  const { limits, wallMs, waitMs, profile } = settings
  const { facts } = decided.gathered
  return {
    ...common,
    askedAt: decided.asked.createdAt,
    command: { ...common.command, verb: row.verb, ...(retries ? { text: retries.text } : {}) },
    ...(retries ? { retries: retries.taskId } : {}),
    base: { ref: facts.defaultBranch, sha: facts.baseSha ?? emptySha },
    ...pullPayload(facts.pull),
    grant: grantOf(row, { operatorProfile: profile, delivery: 'github', trusted: isTrusted(facts), fork: facts.pull?.fork ?? false }),
    limits,
    delivery: 'github',
    deadlineAt: now + wallMs + waitMs,
  }
}

function pullPayload(pull: GatheredFacts['facts']['pull']): Pick<TaskAccepted, 'pull'> {
  if (pull === null) return {}
  const { isOpen: _, ...target } = pull
  return { pull: target }
}

/** Stands for "no commit" where a command needs none (help in an empty repository). */
const emptySha = '0'.repeat(40)

function refusedPayload(decided: Decided, { reason, words }: { reason: string; words: string }, settings: TaskSettings): TaskRefused {
  return { ...commonPayload(decided, settings), reason, words }
}

function acceptedEffects(decided: Decided, row: CommandRow, taskId: string): EffectProposal[] {
  const { asked, reply, notes } = decided
  if (reply !== null) return [...reactTo(asked, 'eyes'), answer(asked, 1, [reply, ...notes].join('\n\n'))]
  return [...reactTo(asked, 'eyes'), ...queuedCheckRun(decided, row, taskId), ...notesOf(decided)]
}

/** The same refusal is said once; after that a reaction tells the person that the command was seen. */
function refusedEffects(decided: Decided, { words }: { words: string }): EffectProposal[] {
  const { asked, saidBefore, notes } = decided
  if (saidBefore) return [...reactTo(asked, 'confused'), ...notesOf(decided)]
  return [answer(asked, 1, `@${asked.actor.login} ${[words, ...notes].join(' ')}`)]
}

/** What belongs to the whole comment and not to one command. The first ordinal is the answer's, or the worker's. */
function notesOf({ asked, notes }: Decided): EffectProposal[] {
  return notes.length === 0 ? [] : [answer(asked, 2, `@${asked.actor.login} ${notes.join(' ')}`)]
}

/** A change to a pull request is shown among its checks from the moment it waits. */
function queuedCheckRun({ asked, gathered }: Decided, row: CommandRow, taskId: string): EffectProposal[] {
  const { pull } = gathered.facts
  if (pull === null || row.road !== 'fix') return []
  const text = { title: 'queued', summary: `Asked by @${asked.actor.login}.` }
  const state = { checkRunId: null, status: 'queued', conclusion: null } as const
  const run = { headSha: pull.headSha, name: checkRunName(row.verb), externalId: taskId }
  return [{ kind: 'check-run', ordinal: 1, intent: { ...placeOf(asked), ...run, ...state, ...text } }]
}

function reactTo(asked: Asked, content: 'eyes' | 'confused'): EffectProposal[] {
  if (asked.reactTo === null) return []
  return [{ kind: 'reaction', ordinal: 1, intent: { ...placeOf(asked), subject: asked.reactTo, content } }]
}

/** Where it was asked: in the thread of a review, or in the conversation. */
function answer(asked: Asked, ordinal: number, body: string): EffectProposal {
  const { threadId } = asked.source
  const intent = { ...placeOf(asked), number: asked.subject.number, since: asked.createdAt, body }
  return threadId === undefined ? { kind: 'comment', ordinal, intent } : { kind: 'reply', ordinal, intent: { ...intent, threadId } }
}

function placeOf(asked: Asked) {
  return {
    owner: asked.repository.owner,
    repo: asked.repository.name,
    repositoryId: asked.repository.id,
    installationId: asked.installationId,
  }
}
