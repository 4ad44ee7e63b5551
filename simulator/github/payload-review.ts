import { type Links, nodeId } from './links.ts'
import { commonFields } from './payload-common.ts'
import { renderPullSimple } from './render/pull.ts'
import { renderReview, renderReviewComment } from './render/review.ts'
import {
  type Account,
  type GitHubState,
  type Repository,
  type Review,
  type ReviewComment,
  requireAccount,
  requireIssue,
  requirePull,
  requireRepository,
} from './state.ts'

type Given = { repo: string; sender?: string; before?: string }

/** Webhooks of reviews and of comments on diffs. */
export function createReviewPayloads(state: GitHubState, links: Links) {
  const senderOf = (given: Given, author: Account | null) => (given.sender === undefined ? author : requireAccount(state, given.sender))
  const changes = (action: string, { before }: Given) => (action === 'edited' ? { changes: { body: { from: before ?? '' } } } : {})
  return {
    pullRequestReview(action: 'submitted' | 'edited' | 'dismissed', given: Given & { reviewId: number }) {
      const repository = requireRepository(state, given.repo)
      const review = repository.reviews.get(given.reviewId)
      if (!review) throw new Error(`${given.repo} has no review ${given.reviewId}`)
      return {
        action,
        ...changes(action, given),
        review: renderHookReview(links, repository, review),
        pull_request: renderThread(state, links, repository, review),
        ...commonFields(state, links, repository, senderOf(given, review.author)),
      }
    },
    pullRequestReviewComment(action: 'created' | 'edited' | 'deleted', given: Given & { commentId: number }) {
      const repository = requireRepository(state, given.repo)
      const comment = repository.reviewComments.get(given.commentId)
      if (!comment) throw new Error(`${given.repo} has no comment ${given.commentId} on a diff`)
      return {
        action,
        ...changes(action, given),
        comment: renderReviewComment(links, repository, comment),
        pull_request: renderThread(state, links, repository, comment),
        ...commonFields(state, links, repository, senderOf(given, comment.author)),
      }
    },
  }
}

/** Here the state is in small letters, and a review without words has null for them; the REST API has neither. */
function renderHookReview(links: Links, repository: Repository, review: Review) {
  const rest = renderReview(links, repository, review)
  return {
    ...rest,
    node_id: nodeId('PRR', review.id),
    body: review.body === '' ? null : review.body,
    state: review.state.toLowerCase(),
    ...('submitted_at' in rest ? { updated_at: rest.submitted_at } : {}),
  }
}

/** As a list shows it: these events say nothing about merging. */
function renderThread(state: GitHubState, links: Links, repository: Repository, part: Review | ReviewComment) {
  const issue = requireIssue(repository, part.issueNumber)
  return renderPullSimple({ state, links, repository, issue, pull: requirePull(issue) })
}
