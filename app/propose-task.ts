import { createHash } from 'node:crypto'
import {
  type Acceptance,
  type CommandRow,
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
}

/**
 * The task a decided command becomes, with its first events and the app's own effects: the eyes reaction of an accepted
 * command, the sentence of a refused one, the help text. Pure: time and the new task's id are given.
 */
export function proposeTask(decided: Decided, taskId: string, now: number, settings: TaskSettings): NewTask {
  const { event, command, acceptance } = decided
  const needsWorker = acceptance.kind === 'accepted' && acceptance.row.road === 'fix'
  const proposals =
    acceptance.kind === 'accepted' ? acceptedEffects(decided, acceptance.row, settings) : [refusalComment(event, acceptance.words)]
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
        : { type: 'task.refused', payload: refusedPayload(decided, acceptance) },
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
}

function commonPayload({ event, command, gathered }: Decided) {
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
    subject: { ...event.subject, trusted: gathered.subjectTrusted },
    commentId: event.commentId,
  }
}

function acceptedPayload(decided: Decided, row: CommandRow, now: number, settings: TaskSettings): TaskAccepted {
  const common = commonPayload(decided)
  const { limits, wallMs, waitMs, profile } = settings
  const { defaultBranch, baseSha } = decided.gathered.facts
  return {
    ...common,
    askedAt: decided.event.createdAt,
    command: { ...common.command, verb: row.verb },
    base: { ref: defaultBranch, sha: baseSha ?? emptySha },
    grant: grantOf(row, profile, 'github'),
    limits,
    delivery: 'github',
    deadlineAt: now + wallMs + waitMs,
  }
}

/** Stands for "no commit" where a command needs none (help in an empty repository). */
const emptySha = '0'.repeat(40)

function refusedPayload(decided: Decided, { reason, words }: { reason: string; words: string }): TaskRefused {
  return { ...commonPayload(decided), reason, words }
}

function acceptedEffects({ event, acceptance: _ }: Decided, row: CommandRow, settings: TaskSettings): EffectProposal[] {
  const eyes: EffectProposal = {
    kind: 'reaction',
    ordinal: 1,
    intent: { ...placeOf(event), subject: { commentId: event.commentId }, content: 'eyes' },
  }
  return row.road === 'reply' ? [eyes, commentOn(event, renderHelp(settings.prefix))] : [eyes]
}

function refusalComment(event: CommentEvent, words: string): EffectProposal {
  return commentOn(event, `@${event.actor.login} ${words}`)
}

function commentOn(event: CommentEvent, body: string): EffectProposal {
  return { kind: 'comment', ordinal: 1, intent: { ...placeOf(event), number: event.subject.number, since: event.createdAt, body } }
}

function placeOf(event: CommentEvent) {
  return {
    owner: event.repository.owner,
    repo: event.repository.name,
    repositoryId: event.repository.id,
    installationId: event.installationId,
  }
}
