import type { components } from '@octokit/openapi-types'
import { type Links, nodeId, repositoryApi, repositoryWeb, time } from '../links.ts'
import { associationOf } from '../permission.ts'
import {
  type Comment,
  type GitHubState,
  type Issue,
  isListed,
  type Label,
  type Reaction,
  type Repository,
  reactionContents,
} from '../state.ts'
import { renderAccount, renderMaybe } from './account.ts'
import { renderApp } from './app.ts'

export function renderIssue(state: GitHubState, links: Links, repository: Repository, issue: Issue) {
  const api = `${repositoryApi(links, repository)}/issues/${issue.number}`
  const comments = [...repository.comments.values()].filter(comment => comment.issueNumber === issue.number)
  return {
    url: api,
    repository_url: repositoryApi(links, repository),
    labels_url: `${api}/labels{/name}`,
    comments_url: `${api}/comments`,
    events_url: `${api}/events`,
    html_url: threadWeb(links, repository, issue),
    id: issue.id,
    node_id: issue.pull ? nodeId('PR', issue.pull.id) : nodeId('I', issue.id),
    number: issue.number,
    title: issue.title,
    user: renderMaybe(links, issue.author),
    labels: issue.labels.map(name => renderLabel(links, repository, labelOf(repository, name))),
    state: issue.state,
    locked: issue.locked,
    assignee: renderMaybe(links, issue.assignees[0] ?? null),
    assignees: issue.assignees.map(account => renderAccount(links, account)),
    milestone: null,
    comments: comments.length,
    created_at: time(issue.createdAt),
    updated_at: time(issue.updatedAt),
    closed_at: issue.closedAt === null ? null : time(issue.closedAt),
    author_association: associationOf(repository, issue.author),
    active_lock_reason: null,
    body: issue.body,
    closed_by: renderMaybe(links, issue.closedBy),
    reactions: renderRollup(`${api}/reactions`, issue.reactions),
    timeline_url: `${api}/timeline`,
    performed_via_github_app: issue.byApp ? renderApp(links, state.app) : null,
    state_reason: issue.stateReason,
    draft: issue.pull?.draft ?? false,
    ...(issue.pull ? { pull_request: renderPullLink(links, repository, issue) } : {}),
  } satisfies components['schemas']['issue']
}

function renderPullLink(links: Links, repository: Repository, issue: Issue) {
  const web = threadWeb(links, repository, issue)
  return {
    url: `${repositoryApi(links, repository)}/pulls/${issue.number}`,
    html_url: web,
    diff_url: `${web}.diff`,
    patch_url: `${web}.patch`,
    merged_at: issue.pull?.mergedAt ? time(issue.pull.mergedAt) : null,
  }
}

export function threadWeb(links: Links, repository: Repository, issue: Issue): string {
  return `${repositoryWeb(links, repository)}/${issue.pull ? 'pull' : 'issues'}/${issue.number}`
}

/** `listed`: as a list shows it, which may lag behind an edit. */
export function renderComment(state: GitHubState, links: Links, repository: Repository, comment: Comment, listed = false) {
  const issue = repository.issues.get(comment.issueNumber)
  if (!issue) throw new Error(`comment ${comment.id} hangs on no issue`)
  const api = `${repositoryApi(links, repository)}/issues/comments/${comment.id}`
  const version = (listed ? comment.versions.findLast(each => isListed(state, each.at)) : undefined) ?? latest(comment)
  return {
    url: api,
    html_url: `${threadWeb(links, repository, issue)}#issuecomment-${comment.id}`,
    issue_url: `${repositoryApi(links, repository)}/issues/${issue.number}`,
    id: comment.id,
    node_id: nodeId('IC', comment.id),
    user: renderMaybe(links, comment.author),
    created_at: time(comment.createdAt),
    updated_at: time(version.at),
    author_association: associationOf(repository, comment.author),
    body: version.body,
    reactions: renderRollup(`${api}/reactions`, comment.reactions),
    performed_via_github_app: comment.byApp ? renderApp(links, state.app) : null,
  } satisfies components['schemas']['issue-comment']
}

function latest(comment: Comment): { at: number; body: string } {
  const version = comment.versions.at(-1)
  if (!version) throw new Error(`comment ${comment.id} has no text`)
  return version
}

export function renderReaction(links: Links, reaction: Reaction) {
  return {
    id: reaction.id,
    node_id: nodeId('REA', reaction.id),
    user: renderAccount(links, reaction.actor),
    content: reaction.content,
    created_at: time(reaction.createdAt),
  } satisfies components['schemas']['reaction']
}

export function renderRollup(url: string, reactions: Reaction[]) {
  const counts = Object.fromEntries(reactionContents.map(content => [content, reactions.filter(each => each.content === content).length]))
  return { url, total_count: reactions.length, ...counts } as components['schemas']['reaction-rollup']
}

export function renderLabel(links: Links, repository: Repository, label: Label) {
  return {
    id: label.id,
    node_id: nodeId('LA', label.id),
    url: `${repositoryApi(links, repository)}/labels/${encodeURIComponent(label.name)}`,
    name: label.name,
    color: label.color,
    default: false,
    description: label.description,
  } satisfies components['schemas']['label']
}

function labelOf(repository: Repository, name: string): Label {
  const label = repository.labels.get(name.toLowerCase())
  if (!label) throw new Error(`no label ${name}`)
  return label
}
