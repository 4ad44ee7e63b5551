import * as z from 'zod'
import type { Delivery } from '../ledger/index.ts'

const User = z.object({ login: z.string(), id: z.int(), type: z.string() })
const Repository = z.object({ id: z.int(), name: z.string(), owner: z.object({ login: z.string() }) })

const IssueComment = z.object({
  action: z.literal('created'),
  comment: z.object({ id: z.int(), body: z.string().nullable(), created_at: z.string(), user: User.nullable() }),
  issue: z.object({
    number: z.int(),
    title: z.string(),
    body: z.string().nullable(),
    locked: z.boolean().optional(),
    user: User.nullable(),
    pull_request: z.unknown().optional(),
  }),
  repository: Repository,
  installation: z.object({ id: z.int() }),
  sender: User,
})

/** What a delivery asks about, as one shape for all events: who said what, where. */
export type CommentEvent = {
  text: string
  commentId: number
  createdAt: string
  actor: { id: number; login: string; type: string }
  repository: { id: number; owner: string; name: string }
  installationId: number
  subject: { kind: 'issue' | 'pull'; number: number; title: string; body: string }
  /** Who wrote the title and the body; null: the account is gone. */
  author: { id: number; login: string; type: string } | null
  locked: boolean
}

export type EventRead = { kind: 'comment'; event: CommentEvent } | { kind: 'ignored'; reason: string }

/** JSON can name half of a character, which no text we record, sign or send can hold. */
function wellFormed(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value
}

/** Event → target, in one place. A payload that does not fit its event is ignored with a reason, never guessed. */
export function readEvent(delivery: Pick<Delivery, 'event' | 'body'>): EventRead {
  if (delivery.event !== 'issue_comment') return { kind: 'ignored', reason: `event ${delivery.event} is not one of ours` }
  const parsed = IssueComment.safeParse(JSON.parse(Buffer.from(delivery.body).toString('utf8'), wellFormed))
  if (!parsed.success)
    return { kind: 'ignored', reason: `payload: ${parsed.error.issues[0]?.path.join('.')} ${parsed.error.issues[0]?.message}` }
  const { comment, issue, repository, installation, sender } = parsed.data
  if (comment.user === null) return { kind: 'ignored', reason: 'the comment has no author any more' }
  // Somebody else's name on the event (an edit, a transfer) never speaks for the author.
  if (comment.user.id !== sender.id) return { kind: 'ignored', reason: 'sender and author differ' }
  return {
    kind: 'comment',
    event: {
      text: comment.body ?? '',
      commentId: comment.id,
      createdAt: comment.created_at,
      actor: sender,
      repository: { id: repository.id, owner: repository.owner.login, name: repository.name },
      installationId: installation.id,
      subject: { kind: issue.pull_request ? 'pull' : 'issue', number: issue.number, title: issue.title, body: issue.body ?? '' },
      author: issue.user,
      locked: issue.locked ?? false,
    },
  }
}
