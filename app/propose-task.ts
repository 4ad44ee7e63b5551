import { createHash } from 'node:crypto'
import {
  type Acceptance,
  type CommandRow,
  clipSubject,
  grantOf,
  type Limits,
  type TaskAccepted,
  type TaskRefused,
  type WrittenCommand,
} from '../domain/index.ts'
import { type EffectProposal, preparedEvent } from '../effects/index.ts'
import type { NewTask } from '../ledger/index.ts'
import type { GatheredFacts } from './gather-facts.ts'
import type { CommentEvent } from './read-event.ts'
import { renderHelp } from './render-help.ts'

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
}

/**
 * The task a decided command becomes, with its first events and the app's own effects: the eyes reaction of an accepted
 * command, the sentence of a refused one, the help text. Pure: time and the new task's id are given.
 */
export function proposeTask(decided: Decided, taskId: string, now: number, settings: TaskSettings): NewTask {
  const { event, command, acceptance } = decided
  const needsWorker = acceptance.kind === 'accepted' && acceptance.row.road === 'fix'
  const proposals =
    acceptance.kind === 'accepted' ? acceptedEffects(decided, acceptance.row, settings) : refusedEffects(decided, acceptance)
  return {
    taskId,
    meaningKey: createHash('sha256').update(`${event.repository.id}|comment ${event.commentId}|${command.index}`).digest('hex'),
    laneKey: laneOf(event),
    priority: 0,
    deliveryId: decided.deliveryId,
    needsWorker,
    actor: `github:${event.actor.id}`,
    commandId: `comment-${event.commentId}-${command.index}`,
    acceptedAt: now,
    first:
      acceptance.kind === 'accepted'
        ? { type: 'task.accepted', payload: acceptedPayload(decided, acceptance.row, now, settings) }
        : { type: 'task.refused', payload: refusedPayload(decided, acceptance, settings) },
    more: proposals.map(proposal => preparedEvent(taskId, proposal)),
    budgets: [],
  }
}

/** Whatever works on one issue or pull request works one after another. */
export function laneOf(event: Pick<CommentEvent, 'repository' | 'subject'>): string {
  return `${event.repository.id}#${event.subject.number}`
}

export type Decided = {
  deliveryId: string
  event: CommentEvent
  command: WrittenCommand
  gathered: GatheredFacts
  acceptance: Exclude<Acceptance, { kind: 'ignored' }>
  /** Sentences about the comment that brought it, said with the answer. */
  notes: readonly string[]
  /** Whether the same person was told the same refusal in the same thread a short while ago. */
  saidBefore: boolean
}

function commonPayload({ event, command, gathered }: Decided, { subjectBytesMax }: TaskSettings) {
  return {
    command: { verb: command.word.toLowerCase(), text: command.text, index: command.index },
    requester: { login: event.actor.login, id: event.actor.id },
    repository: {
      id: event.repository.id,
      owner: event.repository.owner,
      name: event.repository.name,
      url: gathered.cloneUrl,
      visibility: gathered.visibility,
      defaultBranch: gathered.facts.defaultBranch,
    },
    installationId: event.installationId,
    subject: clipSubject({ ...event.subject, trusted: gathered.facts.subjectTrusted }, subjectBytesMax),
    commentId: event.commentId,
  }
}

function acceptedPayload(decided: Decided, row: CommandRow, now: number, settings: TaskSettings): TaskAccepted {
  const common = commonPayload(decided, settings)
  const { limits, wallMs, waitMs, profile } = settings
  const { defaultBranch, baseSha } = decided.gathered.facts
  return {
    ...common,
    askedAt: decided.event.createdAt,
    command: { ...common.command, verb: row.verb },
    base: { ref: defaultBranch, sha: baseSha ?? emptySha },
    grant: grantOf(row, { operatorProfile: profile, delivery: 'github', trusted: decided.gathered.facts.subjectTrusted }),
    limits,
    delivery: 'github',
    deadlineAt: now + wallMs + waitMs,
  }
}

/** Stands for "no commit" where a command needs none (help in an empty repository). */
const emptySha = '0'.repeat(40)

function refusedPayload(decided: Decided, { reason, words }: { reason: string; words: string }, settings: TaskSettings): TaskRefused {
  return { ...commonPayload(decided, settings), reason, words }
}

function acceptedEffects(decided: Decided, row: CommandRow, settings: TaskSettings): EffectProposal[] {
  const eyes = reactTo(decided.event, 'eyes')
  if (row.road !== 'reply') return [eyes, ...notes(decided)]
  return [eyes, commentOn(decided.event, 1, [renderHelp(settings.prefix), ...decided.notes].join('\n\n'))]
}

/** The same refusal is said once; after that a reaction tells the person that the command was seen. */
function refusedEffects(decided: Decided, { words }: { words: string }): EffectProposal[] {
  const { event, saidBefore } = decided
  if (saidBefore) return [reactTo(event, 'confused'), ...notes(decided)]
  return [commentOn(event, 1, `@${event.actor.login} ${[words, ...decided.notes].join(' ')}`)]
}

/** What belongs to the whole comment and not to one command. The first ordinal is the answer's, or the worker's. */
function notes({ event, notes }: Decided): EffectProposal[] {
  return notes.length === 0 ? [] : [commentOn(event, 2, `@${event.actor.login} ${notes.join(' ')}`)]
}

function reactTo(event: CommentEvent, content: 'eyes' | 'confused'): EffectProposal {
  return { kind: 'reaction', ordinal: 1, intent: { ...placeOf(event), subject: { commentId: event.commentId }, content } }
}

function commentOn(event: CommentEvent, ordinal: number, body: string): EffectProposal {
  return { kind: 'comment', ordinal, intent: { ...placeOf(event), number: event.subject.number, since: event.createdAt, body } }
}

function placeOf(event: CommentEvent) {
  return {
    owner: event.repository.owner,
    repo: event.repository.name,
    repositoryId: event.repository.id,
    installationId: event.installationId,
  }
}
