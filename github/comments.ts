import type { Octokit } from '@octokit/rest'

type RepositoryName = { owner: string; repo: string }
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

export async function createComment(api: Octokit, { owner, repo }: RepositoryName, number: number, body: string) {
  const { data } = await api.rest.issues.createComment({ owner, repo, issue_number: number, body })
  return { id: Number(data.id), url: data.html_url }
}

export async function updateComment(api: Octokit, { owner, repo }: RepositoryName, id: number, body: string) {
  const { data } = await api.rest.issues.updateComment({ owner, repo, comment_id: id, body })
  return { id: Number(data.id), url: data.html_url }
}

export type ReactionSubject = { commentId: number } | { issueNumber: number }
export type ReactionContent = 'eyes' | 'confused' | '-1' | '+1'

/** GitHub keeps one reaction per author and content, so this is safe to repeat. */
export async function createReaction(api: Octokit, { owner, repo }: RepositoryName, subject: ReactionSubject, content: ReactionContent) {
  const { data } =
    'commentId' in subject
      ? await api.rest.reactions.createForIssueComment({ owner, repo, comment_id: subject.commentId, content })
      : await api.rest.reactions.createForIssue({ owner, repo, issue_number: subject.issueNumber, content })
  return { id: Number(data.id) }
}

export async function listReactions(api: Octokit, { owner, repo }: RepositoryName, subject: ReactionSubject, content: ReactionContent) {
  const reactions =
    'commentId' in subject
      ? await api.paginate(api.rest.reactions.listForIssueComment, {
          owner,
          repo,
          comment_id: subject.commentId,
          content,
          per_page: perPage,
        })
      : await api.paginate(api.rest.reactions.listForIssue, { owner, repo, issue_number: subject.issueNumber, content, per_page: perPage })
  return reactions.map(reaction => ({ id: Number(reaction.id), author: reaction.user?.login ?? 'ghost' }))
}
