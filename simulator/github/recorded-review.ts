import { accountOf } from './add-account.ts'
import type { RecordedComment, RecordedReview } from './recorded-payload.ts'
import { addReview, addReviewComment, type PullThread } from './review.ts'
import type { Account, GitHubState, Place, Review, ReviewState } from './state.ts'

const states: Record<string, ReviewState> = {
  approved: 'APPROVED',
  changes_requested: 'CHANGES_REQUESTED',
  dismissed: 'DISMISSED',
  pending: 'PENDING',
}

/** The review of a payload, as it was: nothing of it is checked, and nobody is told. */
export function makeRecordedReview(state: GitHubState, thread: PullThread, { id, user, body, state: word }: RecordedReview): void {
  const author = accountOf(state, user)
  const review = addReview(state, thread, { id, author, body: body ?? '', commitSha: thread.pull.head.sha })
  review.state = states[word.toLowerCase()] ?? 'COMMENTED'
  if (review.state !== 'PENDING') review.submittedAt = state.now()
}

/** A comment on a diff, where it was; of the comment it answers no more is known than its id. */
export function makeRecordedComment(state: GitHubState, thread: PullThread, comment: RecordedComment & { path: string }): void {
  const { path, subject_type: subject, diff_hunk: diffHunk } = comment
  const anchor = { path, subject, diffHunk, place: placeOf(comment) }
  const root = comment.in_reply_to_id ?? undefined
  const replyTo =
    root === undefined
      ? undefined
      : addReviewComment(state, thread, addSaid(state, thread, null), { anchor, body: 'Not part of the recorded event.', id: root })
  const review = addSaid(state, thread, accountOf(state, comment.user), comment.pull_request_review_id ?? undefined)
  addReviewComment(state, thread, review, { anchor, body: comment.body ?? '', id: comment.id, replyTo })
}

function addSaid(state: GitHubState, thread: PullThread, author: Account | null, id?: number): Review {
  const review = addReview(state, thread, { id, author, body: '', commitSha: thread.pull.head.sha })
  return Object.assign(review, { state: 'COMMENTED', submittedAt: state.now() })
}

function placeOf(comment: RecordedComment): Place {
  const startLine = comment.start_line ?? comment.original_start_line ?? null
  return {
    line: comment.line ?? comment.original_line ?? 1,
    side: comment.side ?? 'RIGHT',
    startLine,
    startSide: startLine === null ? null : (comment.start_side ?? comment.side ?? 'RIGHT'),
    position: comment.position ?? comment.original_position ?? 1,
  }
}
