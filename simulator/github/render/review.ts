import type { components } from '@octokit/openapi-types'
import { type Links, nodeId, repositoryApi, time } from '../links.ts'
import { associationOf } from '../permission.ts'
import { type Repository, type Review, type ReviewComment, requireIssue } from '../state.ts'
import { renderMaybe } from './account.ts'
import { renderRollup, threadWeb } from './issue.ts'

export function renderReview(links: Links, repository: Repository, review: Review) {
  const issue = requireIssue(repository, review.issueNumber)
  const html = `${threadWeb(links, repository, issue)}#pullrequestreview-${review.id}`
  const pull = `${repositoryApi(links, repository)}/pulls/${issue.number}`
  return {
    id: review.id,
    node_id: nodeId('PRR', review.id),
    user: renderMaybe(links, review.author),
    body: review.body,
    state: review.state as string,
    html_url: html,
    pull_request_url: pull,
    author_association: associationOf(repository, review.author),
    _links: { html: { href: html }, pull_request: { href: pull } },
    ...(review.submittedAt === null ? {} : { submitted_at: time(review.submittedAt) }),
    commit_id: review.commitSha,
  } satisfies components['schemas']['pull-request-review']
}

/**
 * What is outdated has no line and no position: GitHub answers null there, which its description does not allow. A comment
 * on a file as a whole stands at line 1 and says so by its `subject_type` alone.
 */
export function renderReviewComment(links: Links, repository: Repository, comment: ReviewComment) {
  const issue = requireIssue(repository, comment.issueNumber)
  const api = `${repositoryApi(links, repository)}/pulls/comments/${comment.id}`
  const html = `${threadWeb(links, repository, issue)}#discussion_r${comment.id}`
  const pull = `${repositoryApi(links, repository)}/pulls/${issue.number}`
  const { original, place } = comment
  return {
    url: api,
    pull_request_review_id: comment.reviewId,
    id: comment.id,
    node_id: nodeId('PRRC', comment.id),
    diff_hunk: comment.diffHunk,
    path: comment.path,
    commit_id: comment.commitSha,
    original_commit_id: comment.originalCommitSha,
    user: renderMaybe(links, comment.author),
    body: comment.body,
    created_at: time(comment.createdAt),
    updated_at: time(comment.updatedAt),
    html_url: html,
    pull_request_url: pull,
    author_association: associationOf(repository, comment.author),
    _links: { self: { href: api }, html: { href: html }, pull_request: { href: pull } },
    reactions: renderRollup(`${api}/reactions`, comment.reactions),
    start_line: place?.startLine ?? null,
    original_start_line: original.startLine,
    start_side: original.startSide,
    line: (place?.line ?? null) as number,
    original_line: original.line,
    side: original.side,
    position: (place?.position ?? null) as number,
    original_position: original.position,
    subject_type: comment.subject,
    ...(comment.inReplyTo === null ? {} : { in_reply_to_id: comment.inReplyTo }),
  } satisfies components['schemas']['pull-request-review-comment']
}
