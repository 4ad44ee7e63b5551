import type { Anchor } from './anchor.ts'
import type { Account, GitHubState, Issue, Pull, Repository, Review, ReviewComment, ReviewState } from './state.ts'

export const reviewEvents = ['APPROVE', 'REQUEST_CHANGES', 'COMMENT'] as const
export type ReviewEvent = (typeof reviewEvents)[number]
export type PullThread = { repository: Repository; issue: Issue; pull: Pull }

const states: Record<ReviewEvent, ReviewState> = { APPROVE: 'APPROVED', REQUEST_CHANGES: 'CHANGES_REQUESTED', COMMENT: 'COMMENTED' }

export type NewReview = { author: Account | null; byApp?: boolean | undefined; body: string; commitSha: string; id?: number | undefined }

/** Pending until it is published: nobody but its author sees it. */
export function addReview(state: GitHubState, { repository, issue }: PullThread, given: NewReview): Review {
  const { author, byApp = false, body, commitSha } = given
  const id = given.id ?? state.nextId()
  const review: Review = {
    id,
    issueNumber: issue.number,
    author,
    byApp,
    body,
    state: 'PENDING',
    commitSha,
    reactions: [],
    createdAt: state.now(),
    submittedAt: null,
  }
  repository.reviews.set(id, review)
  return review
}

export type NewReviewComment = { anchor: Anchor; body: string; id?: number | undefined; replyTo?: ReviewComment | undefined }

export function addReviewComment(
  state: GitHubState,
  { repository, issue, pull }: PullThread,
  review: Review,
  { anchor, body, replyTo, ...given }: NewReviewComment,
): ReviewComment {
  const { path, subject, diffHunk, place } = anchor
  const id = given.id ?? state.nextId()
  const now = state.now()
  const comment: ReviewComment = {
    id,
    issueNumber: issue.number,
    reviewId: review.id,
    // A reply to a reply belongs to the thread's first comment.
    inReplyTo: replyTo ? (replyTo.inReplyTo ?? replyTo.id) : null,
    author: review.author,
    byApp: review.byApp,
    body,
    path,
    subject,
    diffHunk,
    originalCommitSha: replyTo?.originalCommitSha ?? review.commitSha,
    original: place,
    // On an older commit than the head it is outdated from the start.
    place: replyTo ? replyTo.place : review.commitSha === pull.head.sha ? place : null,
    commitSha: review.commitSha,
    resolvedBy: null,
    reactions: [],
    createdAt: now,
    updatedAt: now,
  }
  repository.reviewComments.set(id, comment)
  return comment
}

/** From now on everybody sees it: one event for the review, and one for each of its comments. */
export function publishReview(state: GitHubState, { repository, issue, pull }: PullThread, review: Review, event: ReviewEvent): void {
  review.state = states[event]
  review.submittedAt = state.now()
  issue.updatedAt = state.now()
  pull.requestedReviewers = pull.requestedReviewers.filter(each => each.id !== review.author?.id)
  const sender = review.author
  state.emit({ event: 'pull_request_review', action: 'submitted', repository, review, sender })
  for (const reviewComment of commentsOf(repository, review)) {
    state.emit({ event: 'pull_request_review_comment', action: 'created', repository, reviewComment, sender })
  }
}

export function commentsOf(repository: Repository, review: Review): ReviewComment[] {
  return [...repository.reviewComments.values()].filter(each => each.reviewId === review.id)
}

export function findPending(repository: Repository, issue: Issue, author: Account): Review | undefined {
  return [...repository.reviews.values()].find(
    each => each.issueNumber === issue.number && each.state === 'PENDING' && each.author?.id === author.id,
  )
}

/** A pending review and its comments are its author's alone. */
export function sees(actor: Account | null, review: Review | undefined): boolean {
  return review !== undefined && (review.state !== 'PENDING' || (actor !== null && review.author?.id === actor.id))
}

export function deleteReviewComment(
  state: GitHubState,
  repository: Repository,
  reviewComment: ReviewComment,
  sender: Account | null,
): void {
  state.emit({ event: 'pull_request_review_comment', action: 'deleted', repository, reviewComment, sender })
  repository.reviewComments.delete(reviewComment.id)
  // The oldest reply begins the thread from now on.
  const [first, ...rest] = [...repository.reviewComments.values()].filter(each => each.inReplyTo === reviewComment.id)
  if (!first) return
  Object.assign(first, { inReplyTo: null, resolvedBy: reviewComment.resolvedBy })
  for (const each of rest) each.inReplyTo = first.id
}

export function editReviewComment(
  state: GitHubState,
  repository: Repository,
  reviewComment: ReviewComment,
  body: string,
  sender: Account | null,
): void {
  const before = reviewComment.body
  Object.assign(reviewComment, { body, updatedAt: state.now() })
  state.emit({ event: 'pull_request_review_comment', action: 'edited', repository, reviewComment, sender, before })
}
