import * as z from 'zod'
import { type Answer, notFound, ok, refused, unprocessable } from '../answer.ts'
import { eventError, makeReview, textError } from '../make-review.ts'
import { paginate } from '../paginate.ts'
import { mayChange, passesLock } from '../permission.ts'
import { renderReview, renderReviewComment } from '../render/review.ts'
import { commentsOf, publishReview, type ReviewEvent, reviewEvents, sees } from '../review.ts'
import { type Call, route } from '../route.ts'
import { isListed } from '../state.ts'

const all = '/repos/{owner}/{repo}/pulls/{pull_number}/reviews'
const one = `${all}/{review_id}` as const
const read = { anyOf: [['pull_requests', 'read']] } satisfies { anyOf: [string, 'read'][] }
const write = { anyOf: [['pull_requests', 'write']] } satisfies { anyOf: [string, 'write'][] }

const side = z.enum(['LEFT', 'RIGHT'])
const event = z.enum(reviewEvents)
/** No `subject_type` here: a whole file is commented on by a comment of its own. */
const comment = z.strictObject({
  path: z.string(),
  body: z.string(),
  position: z.int().optional(),
  line: z.int().optional(),
  side: side.optional(),
  start_line: z.int().optional(),
  start_side: side.optional(),
})

export const reviewRoutes = [
  route({
    method: 'GET',
    path: all,
    permission: read,
    apply: call => {
      const { state, links, repository, issue, actor } = call
      const listed = [...repository.reviews.values()].filter(
        each => each.issueNumber === issue.number && sees(actor, each) && isListed(state, each.createdAt),
      )
      return paginate(
        call,
        listed.map(each => renderReview(links, repository, each)),
      )
    },
  }),
  route({
    method: 'POST',
    path: all,
    permission: write,
    schema: z.strictObject({
      commit_id: z.string().optional(),
      body: z.string().nullish(),
      event: event.optional(),
      comments: z.array(comment).optional(),
    }),
    apply: async (call, body) => {
      const made = await makeReview(call.state, call, {
        author: call.actor,
        byApp: call.token?.kind === 'installation',
        passesLock: passesLock(call.repository, call.token),
        body: body.body ?? '',
        event: body.event ?? null,
        commitId: body.commit_id,
        comments: (body.comments ?? []).map(({ start_line: startLine, start_side: startSide, ...each }) => ({
          ...each,
          startLine,
          startSide,
        })),
      })
      return made.kind === 'made' ? ok(renderReview(call.links, call.repository, made.review)) : unprocessable(...made.errors)
    },
  }),
  route({
    method: 'GET',
    path: one,
    permission: read,
    apply: ({ links, repository, review, actor }) => (sees(actor, review) ? ok(renderReview(links, repository, review)) : notFound()),
  }),
  route({
    method: 'PUT',
    path: one,
    permission: write,
    schema: z.strictObject({ body: z.string() }),
    apply: (call, { body }) => {
      const { state, links, repository, review, actor, token } = call
      if (!sees(actor, review)) return notFound()
      if (!mayChange(repository, token, review.author)) return refused(403, 'Must have write access to the repository.')
      const error = body.trim() === '' ? "Body can't be blank" : textError(body)
      if (error) return unprocessable(error)
      const before = review.body
      review.body = body
      if (review.state !== 'PENDING')
        state.emit({ event: 'pull_request_review', action: 'edited', repository, review, sender: actor, before })
      return ok(renderReview(links, repository, review))
    },
  }),
  route({
    method: 'DELETE',
    path: one,
    permission: write,
    apply: ({ links, repository, review, actor }) => {
      if (!sees(actor, review)) return notFound()
      if (review.state !== 'PENDING') return unprocessable('Can not delete a non-pending pull request review')
      for (const each of commentsOf(repository, review)) repository.reviewComments.delete(each.id)
      repository.reviews.delete(review.id)
      return ok(renderReview(links, repository, review))
    },
  }),
  route({
    method: 'GET',
    path: `${one}/comments`,
    permission: read,
    apply: call => {
      const { state, links, repository, review, actor } = call
      if (!sees(actor, review)) return notFound()
      const listed = commentsOf(repository, review).filter(each => isListed(state, each.createdAt))
      return paginate(
        call,
        listed.map(each => renderReviewComment(links, repository, each)),
      )
    },
  }),
  route({
    method: 'POST',
    path: `${one}/events`,
    permission: write,
    schema: z.strictObject({ body: z.string().optional(), event }),
    apply: (call, body) => submit(call, body.event, body.body),
  }),
  route({
    method: 'PUT',
    path: `${one}/dismissals`,
    permission: write,
    schema: z.strictObject({ message: z.string().min(1), event: z.literal('DISMISS').optional() }),
    apply: ({ state, links, repository, review, actor }) => {
      if (!sees(actor, review)) return notFound()
      if (review.state !== 'APPROVED' && review.state !== 'CHANGES_REQUESTED')
        return unprocessable(`Can not dismiss a ${review.state.toLowerCase()} pull request review`)
      review.state = 'DISMISSED'
      state.emit({ event: 'pull_request_review', action: 'dismissed', repository, review, sender: actor })
      return ok(renderReview(links, repository, review))
    },
  }),
]

const verbs: Record<ReviewEvent, string> = { APPROVE: 'approve', REQUEST_CHANGES: 'request changes on', COMMENT: 'comment' }

function submit(call: Call<typeof one>, event: ReviewEvent, body: string | undefined): Answer {
  const { state, links, repository, issue, review, actor } = call
  if (!sees(actor, review)) return notFound()
  if (review.state !== 'PENDING') return unprocessable(`Could not ${verbs[event]} pull request review.`)
  const text = body ?? review.body
  const comments = commentsOf(repository, review).length
  const error = eventError(issue, { author: actor, event, body: text, comments }) ?? textError(text)
  if (error) return unprocessable(error)
  review.body = text
  publishReview(state, call, review, event)
  return ok(renderReview(links, repository, review))
}
