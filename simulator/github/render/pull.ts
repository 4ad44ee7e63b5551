import type { components } from '@octokit/openapi-types'
import { type Links, nodeId, repositoryApi, time } from '../links.ts'
import { associationOf } from '../permission.ts'
import type { PullFacts } from '../pull-facts.ts'
import type { GitHubState, Issue, Pull, Repository } from '../state.ts'
import { renderAccount, renderMaybe } from './account.ts'
import { renderLabel, threadWeb } from './issue.ts'
import { renderRepository } from './repository.ts'

export type PullView = { state: GitHubState; links: Links; repository: Repository; issue: Issue; pull: Pull }

/** As a list shows it. */
export function renderPullSimple({ links, repository, issue, pull }: PullView) {
  const api = `${repositoryApi(links, repository)}/pulls/${issue.number}`
  const issueApi = `${repositoryApi(links, repository)}/issues/${issue.number}`
  const web = threadWeb(links, repository, issue)
  const statuses = `${repositoryApi(links, repository)}/statuses/${pull.head.sha}`
  return {
    url: api,
    id: pull.id,
    node_id: nodeId('PR', pull.id),
    html_url: web,
    diff_url: `${web}.diff`,
    patch_url: `${web}.patch`,
    issue_url: issueApi,
    number: issue.number,
    state: issue.state,
    locked: issue.locked,
    title: issue.title,
    // The types call the author of a list entry nullable but not the one of a single pull request: GitHub answers null in both.
    user: renderMaybe(links, issue.author) as components['schemas']['simple-user'],
    body: issue.body,
    created_at: time(issue.createdAt),
    updated_at: time(issue.updatedAt),
    closed_at: issue.closedAt === null ? null : time(issue.closedAt),
    merged_at: pull.mergedAt === null ? null : time(pull.mergedAt),
    merge_commit_sha: pull.mergeCommitSha,
    assignee: renderMaybe(links, issue.assignees[0] ?? null),
    assignees: issue.assignees.map(account => renderAccount(links, account)),
    requested_reviewers: pull.requestedReviewers.map(account => renderAccount(links, account)),
    requested_teams: [],
    labels: issue.labels.flatMap(name => {
      const label = repository.labels.get(name.toLowerCase())
      // Here alone the types forbid a null description, which GitHub sends all the same.
      return label ? [renderLabel(links, repository, label) as ReturnType<typeof renderLabel> & { description: string }] : []
    }),
    milestone: null,
    draft: pull.draft,
    commits_url: `${api}/commits`,
    review_comments_url: `${api}/comments`,
    review_comment_url: `${repositoryApi(links, repository)}/pulls/comments{/number}`,
    comments_url: `${issueApi}/comments`,
    statuses_url: statuses,
    head: renderSide(links, pull.head.repository, pull.head.owner, pull.head.ref, pull.head.sha),
    base: renderSide(links, repository, repository.owner, pull.base.ref, pull.base.sha),
    _links: {
      self: { href: api },
      html: { href: web },
      issue: { href: issueApi },
      comments: { href: `${issueApi}/comments` },
      review_comments: { href: `${api}/comments` },
      review_comment: { href: `${repositoryApi(links, repository)}/pulls/comments{/number}` },
      commits: { href: `${api}/commits` },
      statuses: { href: statuses },
    },
    author_association: associationOf(repository, issue.author),
    auto_merge: null,
    active_lock_reason: null,
  } satisfies components['schemas']['pull-request-simple']
}

/** `repo` is null when the fork was deleted, which the types do not say either. */
function renderSide(links: Links, repository: Repository | null, owner: Repository['owner'], ref: string, sha: string) {
  return {
    label: `${owner.login}:${ref}`,
    ref,
    sha,
    user: renderAccount(links, owner),
    repo: (repository ? renderRepository(links, repository) : null) as ReturnType<typeof renderRepository>,
  }
}

/** As `GET /pulls/{pull_number}` shows it, with what git says about it. */
export function renderPull(view: PullView, facts: PullFacts) {
  const { links, repository, issue, pull } = view
  const comments = [...repository.comments.values()].filter(comment => comment.issueNumber === issue.number).length
  const reviewComments = [...repository.reviewComments.values()].filter(comment => comment.issueNumber === issue.number).length
  return {
    ...renderPullSimple(view),
    merged: pull.merged,
    ...renderFigures(pull, facts),
    merged_by: renderMaybe(links, pull.mergedBy),
    comments,
    review_comments: reviewComments,
    maintainer_can_modify: pull.maintainerCanModify,
  } satisfies components['schemas']['pull-request']
}

/** The part git is asked for. */
export function renderFigures(pull: Pull, { mergeable, commits, additions, deletions, changedFiles }: PullFacts) {
  return {
    mergeable,
    rebaseable: mergeable,
    mergeable_state: mergeable === null ? 'unknown' : mergeable ? (pull.draft ? 'draft' : 'clean') : 'dirty',
    commits,
    additions,
    deletions,
    changed_files: changedFiles,
  }
}
