import * as z from 'zod'
import { fieldErrorsOf } from '../anchor-message.ts'
import { type Answer, created, type FieldError, invalid, noContent, notFound, ok, refused } from '../answer.ts'
import { type MadeComment, makeReply, makeReviewComment } from '../make-review.ts'
import { paginate } from '../paginate.ts'
import { mayChange, passesLock } from '../permission.ts'
import { renderReviewComment } from '../render/review.ts'
import { deleteReviewComment, editReviewComment, sees } from '../review.ts'
import { type Call, route } from '../route.ts'
import { isListed, type ReviewComment } from '../state.ts'
import { bodyCharactersMax, bodyTooLong, characters } from '../text-limit.ts'

const ofPull = '/repos/{owner}/{repo}/pulls/{pull_number}/comments'
const one = '/repos/{owner}/{repo}/pulls/comments/{comment_id}'
const read = { anyOf: [['pull_requests', 'read']] } satisfies { anyOf: [string, 'read'][] }
const write = { anyOf: [['pull_requests', 'write']] } satisfies { anyOf: [string, 'write'][] }
const side = z.enum(['LEFT', 'RIGHT'])

const text = z.strictObject({ body: z.string() })
/** In a reply GitHub reads nothing but these two. */
const Reply = z.looseObject({ body: z.string(), in_reply_to: z.int() })
const Creation = z.strictObject({
  body: z.string(),
  commit_id: z.string(),
  path: z.string(),
  position: z.int().optional(),
  side: side.optional(),
  line: z.int().optional(),
  start_line: z.int().optional(),
  start_side: side.optional(),
  subject_type: z.enum(['line', 'file']).optional(),
})

export const reviewCommentRoutes = [
  route({ method: 'GET', path: ofPull, permission: read, apply: call => list(call, each => each.issueNumber === call.issue.number) }),
  route({ method: 'GET', path: '/repos/{owner}/{repo}/pulls/comments', permission: read, apply: call => list(call, () => true) }),
  route({
    method: 'POST',
    path: ofPull,
    permission: write,
    schema: z.union([Reply, Creation]),
    apply: async (call, body) => {
      const error = textError(body.body)
      if (error) return invalid(error)
      if ('in_reply_to' in body) return reply(call, call.repository.reviewComments.get(Number(body.in_reply_to)), body.body)
      const wish = body as z.infer<typeof Creation>
      const { path, line, position, start_line: startLine, start_side: startSide, subject_type: subject } = wish
      const at = { path, line, side: wish.side, position, startLine, startSide, subject }
      return answerMade(
        call,
        await makeReviewComment(call.state, call, { ...authorOf(call), body: wish.body, commitId: wish.commit_id, at }),
      )
    },
  }),
  route({
    method: 'POST',
    path: `${ofPull}/{comment_id}/replies`,
    permission: write,
    schema: text,
    apply: (call, { body }) => {
      const error = textError(body)
      return error ? invalid(error) : reply(call, call.reviewComment, body)
    },
  }),
  route({
    method: 'GET',
    path: one,
    permission: read,
    apply: call => (isVisible(call, call.reviewComment) ? ok(render(call, call.reviewComment)) : notFound()),
  }),
  route({
    method: 'PATCH',
    path: one,
    permission: write,
    schema: text,
    apply: (call, { body }) => {
      const { state, repository, reviewComment, token } = call
      if (!isVisible(call, reviewComment)) return notFound()
      if (!mayChange(repository, token, reviewComment.author)) return refused(403, 'Must have write access to the repository.')
      const error = textError(body)
      if (error) return invalid(error)
      editReviewComment(state, repository, reviewComment, body, call.actor)
      return ok(render(call, reviewComment))
    },
  }),
  route({
    method: 'DELETE',
    path: one,
    permission: write,
    apply: call => {
      const { state, repository, reviewComment, token } = call
      if (!isVisible(call, reviewComment)) return notFound()
      if (!mayChange(repository, token, reviewComment.author)) return refused(403, 'Must have write access to the repository.')
      deleteReviewComment(state, repository, reviewComment, call.actor)
      return noContent()
    },
  }),
]

type RepoCall = Call<'{repo}'>

function isVisible({ repository, actor }: RepoCall, comment: ReviewComment): boolean {
  return sees(actor, repository.reviews.get(comment.reviewId))
}

function render({ links, repository }: RepoCall, comment: ReviewComment) {
  return renderReviewComment(links, repository, comment)
}

function list(call: RepoCall, fits: (comment: ReviewComment) => boolean): Answer {
  const since = Date.parse(call.query.get('since') ?? '1970-01-01T00:00:00Z')
  const listed = [...call.repository.reviewComments.values()]
    .filter(each => fits(each) && isVisible(call, each) && isListed(call.state, each.createdAt) && each.updatedAt >= since)
    .sort((a, b) => (call.query.get('direction') === 'desc' ? b.createdAt - a.createdAt || b.id - a.id : a.createdAt - b.createdAt))
  return paginate(
    call,
    listed.map(each => render(call, each)),
  )
}

type PullCall = Call<'{repo}{pull_number}'>

function authorOf({ actor, token, repository }: PullCall) {
  return { author: actor, byApp: token?.kind === 'installation', passesLock: passesLock(repository, token) }
}

/** GitHub takes no reply to a reply: the thread's first comment is to be named. */
function reply(call: PullCall, to: ReviewComment | undefined, body: string): Answer {
  if (!to || to.issueNumber !== call.issue.number || to.inReplyTo !== null || !isVisible(call, to))
    return invalid({ resource: 'PullRequestReviewComment', code: 'invalid', field: 'in_reply_to' })
  return answerMade(call, makeReply(call.state, call, { ...authorOf(call), body, replyTo: to }))
}

function answerMade(call: PullCall, made: MadeComment): Answer {
  if (made.kind === 'refused') return invalid(...fieldErrorsOf(made.problem))
  const json = render(call, made.comment)
  return created(json, { location: json.url })
}

function textError(body: string): FieldError | null {
  if (body.trim() === '') return { resource: 'PullRequestReviewComment', code: 'missing_field', field: 'body' }
  return characters(body) > bodyCharactersMax ? bodyTooLong('PullRequestReviewComment', 'data') : null
}
