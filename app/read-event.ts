import type { TaskAccepted } from '../domain/index.ts'
import type { ReactionSubject } from '../github/index.ts'
import type { Delivery } from '../ledger/index.ts'
import { type EventPayload, type EventUser, eventPayloads } from './event-payloads.ts'
import { type Ignored, ignored } from './ignored.ts'
import { isServedEvent, type ServedEvent } from './served-events.ts'

type Source = NonNullable<TaskAccepted['source']>

/** What a delivery asks about, as one shape for all events: who said what, where. */
export type Asked = {
  source: Source
  /** The review it belongs to: one that was submitted with many comments is one request. Null: none. */
  reviewId: number | null
  text: string
  /** By GitHub's clock. */
  createdAt: string
  actor: EventUser
  repository: { id: number; owner: string; name: string }
  installationId: number
  subject: { kind: 'issue' | 'pull'; number: number; title: string; body: string }
  /** Who wrote the title and the body; null: the account is gone. */
  author: EventUser | null
  locked: boolean
  /** What the eyes are put on; null: nothing there can be reacted to. */
  reactTo: ReactionSubject | null
}

/** A click on a button of a check run: what it is about stands in the ledger, under the check run's external id. */
export type Clicked = Pick<Asked, 'actor' | 'repository' | 'installationId'> & {
  checkRunId: number
  appId: number | null
  taskId: string
  identifier: string
}

export type EventRead =
  | { kind: 'asked'; asked: Asked }
  | { kind: 'clicked'; clicked: Clicked }
  /** The issue or pull request is over, and with it what runs for it. */
  | { kind: 'closed'; closed: Pick<Asked, 'actor' | 'repository' | 'subject'> & { at: string | null } }
  | Ignored

/** Event → target, in one place, for every event that is served: one that has no row here does not compile. */
const targets: { [E in ServedEvent]: (payload: EventPayload<E>) => EventRead } = {
  issue_comment: payload => {
    const { comment, issue } = payload
    const kind = issue.pull_request ? 'pull' : 'issue'
    return asked(payload, issue, kind, comment.user, {
      source: { kind: 'comment', id: comment.id },
      text: comment.body,
      createdAt: comment.created_at,
      reactTo: { commentId: comment.id },
    })
  },
  issues: payload =>
    payload.action === 'closed' ? closed(payload, payload.issue, 'issue') : askedAtOpening(payload, payload.issue, 'issue'),
  pull_request: payload =>
    payload.action === 'closed' ? closed(payload, payload.pull_request, 'pull') : askedAtOpening(payload, payload.pull_request, 'pull'),
  pull_request_review: payload => {
    const { review } = payload
    return asked(payload, payload.pull_request, 'pull', review.user, {
      source: { kind: 'review', id: review.id },
      reviewId: review.id,
      text: review.body,
      createdAt: review.submitted_at ?? payload.pull_request.created_at,
      reactTo: null,
    })
  },
  pull_request_review_comment: payload => {
    const { comment } = payload
    return asked(payload, payload.pull_request, 'pull', comment.user, {
      source: { kind: 'review-comment', id: comment.id, threadId: comment.in_reply_to_id ?? comment.id },
      reviewId: comment.pull_request_review_id,
      text: comment.body,
      // One that was written before its review was submitted keeps the time of its draft.
      createdAt: comment.updated_at ?? comment.created_at,
      reactTo: { reviewCommentId: comment.id },
    })
  },
  check_run: payload => {
    const { check_run: run, requested_action: action } = payload
    if (!run.external_id) return ignored('foreign-check-run', 'the check run has no external id')
    const identifier = payload.action === 'rerequested' ? 'retry' : (action?.identifier ?? '')
    const clicked = { ...placeOf(payload), actor: payload.sender, checkRunId: run.id, appId: run.app?.id ?? null, identifier }
    return { kind: 'clicked', clicked: { ...clicked, taskId: run.external_id } }
  },
}

/** A payload that does not fit its event is ignored with a reason, never guessed. */
export function readEvent({ event, body }: Pick<Delivery, 'event' | 'body'>): EventRead {
  return isServedEvent(event) ? readPayload(event, body) : ignored('malformed', `event ${event} is not one of ours`)
}

function readPayload<E extends ServedEvent>(event: E, body: Uint8Array): EventRead {
  const payload = parseJson(body)
  if (payload === undefined) return ignored('malformed', 'payload: its JSON can not be read')
  const parsed = eventPayloads[event].safeParse(payload)
  if (parsed.success) return targets[event](parsed.data as EventPayload<E>)
  const [issue] = parsed.error.issues
  return ignored('malformed', `payload: ${issue?.path.join('.')} ${issue?.message}`)
}

/** Undefined: it is none, or one so deep that reading it runs out of stack, which GitHub does not send. */
function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'), wellFormed)
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined
    throw error
  }
}

/** JSON can name half of a character, which no text we record, sign or send can hold. */
function wellFormed(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value
}

type Common = Pick<EventPayload<'issues'>, 'repository' | 'installation' | 'sender'>
type Thread = EventPayload<'pull_request'>['pull_request']
type Said = Pick<Asked, 'source' | 'createdAt' | 'reactTo'> & { text: string | null; reviewId?: number | null }

function asked(common: Common, thread: Thread, kind: 'issue' | 'pull', author: EventUser | null, said: Said): EventRead {
  if (author === null) return ignored('no-author', 'it has no author any more')
  // Somebody else's name on the event (an edit, a transfer) never speaks for the author.
  if (author.id !== common.sender.id) return ignored('sender-differs', 'sender and author differ')
  return {
    kind: 'asked',
    asked: {
      ...placeOf(common),
      ...said,
      text: said.text ?? '',
      reviewId: said.reviewId ?? null,
      actor: common.sender,
      subject: subjectOf(thread, kind),
      author: thread.user,
      locked: thread.locked ?? false,
    },
  }
}

/** The text of an issue or a pull request speaks when it is opened, never when it is edited. */
function askedAtOpening(common: Common, thread: Thread, kind: 'issue' | 'pull'): EventRead {
  return asked(common, thread, kind, thread.user, {
    source: { kind, id: thread.id },
    text: thread.body,
    createdAt: thread.created_at,
    reactTo: { issueNumber: thread.number },
  })
}

function closed(common: Common, thread: Thread, kind: 'issue' | 'pull'): EventRead {
  const { closed_at: at = null } = thread
  return { kind: 'closed', closed: { ...placeOf(common), actor: common.sender, subject: subjectOf(thread, kind), at } }
}

function subjectOf({ number, title, body }: Thread, kind: 'issue' | 'pull'): Asked['subject'] {
  return { kind, number, title, body: body ?? '' }
}

function placeOf({ repository: { id, owner, name }, installation }: Common) {
  return { repository: { id, owner: owner.login, name }, installationId: installation.id }
}
