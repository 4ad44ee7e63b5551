import type { Octokit } from '@octokit/rest'
import type { CommentFound } from './comments.ts'
import type { RepositoryName } from './repository-name.ts'

export type NewReview = {
  /** The commit whose lines are meant. */
  headSha: string
  body: string
  /** On lines of the diff's new side; `startLine` = `line` is one line. */
  comments: readonly { path: string; startLine: number; line: number; body: string }[]
}

/** Says things, and no more: a review of ours never approves and never asks for changes. */
export async function createReview(api: Octokit, { owner, repo }: RepositoryName, number: number, { headSha, body, comments }: NewReview) {
  const { data } = await api.rest.pulls.createReview({
    owner,
    repo,
    pull_number: number,
    commit_id: headSha,
    event: 'COMMENT',
    body,
    comments: comments.map(({ path, startLine, line, body: text }) => ({
      path,
      line,
      side: 'RIGHT',
      ...(startLine === line ? {} : { start_line: startLine, start_side: 'RIGHT' }),
      body: text,
    })),
  })
  return { id: Number(data.id), url: data.html_url }
}

/** Every review of a pull request that was submitted. */
export async function listReviews(api: Octokit, { owner, repo }: RepositoryName, number: number): Promise<CommentFound[]> {
  const reviews = await api.paginate(api.rest.pulls.listReviews, { owner, repo, pull_number: number, per_page: 100 })
  return reviews.map(({ id, body, user, html_url }) => ({ id: Number(id), body, author: user?.login ?? 'ghost', url: html_url }))
}
