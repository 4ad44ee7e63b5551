import type { Octokit } from '@octokit/rest'
import type { RepositoryName } from './repository-name.ts'

export type CommentFound = { id: number; body: string; author: string; url: string }

const perPage = 100

/** Every comment of an issue or pull request since `since`, newest last. */
export async function listComments(api: Octokit, { owner, repo }: RepositoryName, number: number, since: string): Promise<CommentFound[]> {
  const comments = await api.paginate(api.rest.issues.listComments, { owner, repo, issue_number: number, since, per_page: perPage })
  return comments.map(comment => ({
    id: Number(comment.id),
    body: comment.body ?? '',
    author: comment.user?.login ?? 'ghost',
    url: comment.html_url,
  }))
}

/** Every review comment of a pull request since `since`, whatever thread it stands in. */
export async function listReviewComments(
  api: Octokit,
  { owner, repo }: RepositoryName,
  number: number,
  since: string,
): Promise<(CommentFound & { threadId: number })[]> {
  const comments = await api.paginate(api.rest.pulls.listReviewComments, { owner, repo, pull_number: number, since, per_page: perPage })
  return comments.map(comment => ({
    id: Number(comment.id),
    threadId: Number(comment.in_reply_to_id ?? comment.id),
    body: comment.body,
    author: comment.user?.login ?? 'ghost',
    url: comment.html_url,
  }))
}

export async function createReply(api: Octokit, { owner, repo }: RepositoryName, number: number, threadId: number, body: string) {
  const { data } = await api.rest.pulls.createReplyForReviewComment({ owner, repo, pull_number: number, comment_id: threadId, body })
  return { id: Number(data.id), url: data.html_url }
}

export async function createComment(api: Octokit, { owner, repo }: RepositoryName, number: number, body: string) {
  const { data } = await api.rest.issues.createComment({ owner, repo, issue_number: number, body })
  return { id: Number(data.id), url: data.html_url }
}

export async function updateComment(api: Octokit, { owner, repo }: RepositoryName, id: number, body: string) {
  const { data } = await api.rest.issues.updateComment({ owner, repo, comment_id: id, body })
  return { id: Number(data.id), url: data.html_url }
}

export type ReactionSubject = { commentId: number } | { issueNumber: number } | { reviewCommentId: number }
export type ReactionContent = 'eyes' | 'confused' | '-1' | '+1'

/** GitHub keeps one reaction per author and content, so this is safe to repeat. */
export async function createReaction(api: Octokit, name: RepositoryName, subject: ReactionSubject, content: ReactionContent) {
  const { data } = await createAt(api, name, subject, content)
  return { id: Number(data.id) }
}

function createAt({ rest }: Octokit, { owner, repo }: RepositoryName, subject: ReactionSubject, content: ReactionContent) {
  const to = { owner, repo, content }
  if ('commentId' in subject) return rest.reactions.createForIssueComment({ ...to, comment_id: subject.commentId })
  if ('issueNumber' in subject) return rest.reactions.createForIssue({ ...to, issue_number: subject.issueNumber })
  return rest.reactions.createForPullRequestReviewComment({ ...to, comment_id: subject.reviewCommentId })
}

export async function listReactions(api: Octokit, name: RepositoryName, subject: ReactionSubject, content: ReactionContent) {
  const reactions = await listAt(api, name, subject, content)
  return reactions.map(reaction => ({ id: Number(reaction.id), author: reaction.user?.login ?? 'ghost' }))
}

function listAt(api: Octokit, { owner, repo }: RepositoryName, subject: ReactionSubject, content: ReactionContent) {
  const { reactions } = api.rest
  const of = { owner, repo, content, per_page: perPage }
  if ('commentId' in subject) return api.paginate(reactions.listForIssueComment, { ...of, comment_id: subject.commentId })
  if ('issueNumber' in subject) return api.paginate(reactions.listForIssue, { ...of, issue_number: subject.issueNumber })
  return api.paginate(reactions.listForPullRequestReviewComment, { ...of, comment_id: subject.reviewCommentId })
}
