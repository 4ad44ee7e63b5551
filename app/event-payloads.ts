import * as z from 'zod'

/** What is read of each event's payload, and nothing more. GitHub sends null for accounts, bodies and repositories that are gone. */
const User = z.object({ login: z.string(), id: z.int(), type: z.string() })
const Text = z.string().nullable()

const Common = z.object({
  repository: z.object({ id: z.int(), name: z.string(), owner: z.object({ login: z.string() }) }),
  installation: z.object({ id: z.int() }),
  sender: User,
})

const Issue = z.object({
  id: z.int(),
  number: z.int(),
  title: z.string(),
  body: Text,
  created_at: z.string(),
  closed_at: Text.optional(),
  locked: z.boolean().optional(),
  user: User.nullable(),
  pull_request: z.unknown().optional(),
})

const Pull = Issue.omit({ pull_request: true })

const Comment = z.object({ id: z.int(), body: Text, created_at: z.string(), user: User.nullable() })

export const eventPayloads = {
  issue_comment: Common.extend({ action: z.literal('created'), comment: Comment, issue: Issue }),
  issues: Common.extend({ action: z.enum(['opened', 'closed']), issue: Issue }),
  pull_request: Common.extend({ action: z.enum(['opened', 'closed']), pull_request: Pull }),
  pull_request_review: Common.extend({
    action: z.literal('submitted'),
    review: z.object({ id: z.int(), body: Text, submitted_at: Text, user: User.nullable() }),
    pull_request: Pull,
  }),
  pull_request_review_comment: Common.extend({
    action: z.literal('created'),
    comment: Comment.extend({
      pull_request_review_id: z.int().nullable(),
      in_reply_to_id: z.int().optional(),
      updated_at: Text.optional(),
    }),
    pull_request: Pull,
  }),
  check_run: Common.extend({
    action: z.enum(['rerequested', 'requested_action']),
    check_run: z.object({ id: z.int(), external_id: Text, app: z.object({ id: z.int() }).nullable() }),
    requested_action: z.object({ identifier: z.string() }).optional(),
  }),
} as const

export type EventPayload<E extends keyof typeof eventPayloads> = z.infer<(typeof eventPayloads)[E]>
export type EventUser = z.infer<typeof User>
