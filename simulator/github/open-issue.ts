import { setLabels } from './set-labels.ts'
import type { Account, Comment, GitHubState, Issue, Repository } from './state.ts'

export type NewIssue = {
  author: Account | null
  title: string
  body: string | null
  labels?: string[]
  assignees?: Account[]
  byApp?: boolean
  /** The caller makes a pull request of it, and tells of it then. */
  asPull?: boolean
  number?: number | undefined
  id?: number | undefined
}

/** Adds an issue; a pull request is one too, with `pull` set afterwards. */
export function openIssue(state: GitHubState, repository: Repository, given: NewIssue): Issue {
  const now = state.now()
  const number = given.number ?? repository.nextNumber
  if (repository.issues.has(number)) throw new Error(`number ${number} is taken`)
  repository.nextNumber = Math.max(repository.nextNumber, number + 1)
  const issue: Issue = {
    id: given.id ?? state.nextId(),
    number,
    title: given.title,
    body: given.body,
    author: given.author,
    byApp: given.byApp ?? false,
    state: 'open',
    stateReason: null,
    locked: false,
    labels: [],
    assignees: given.assignees ?? [],
    reactions: [],
    createdAt: now,
    updatedAt: now,
    closedAt: null,
    closedBy: null,
    pull: null,
  }
  repository.issues.set(number, issue)
  if (given.labels) setLabels(state, repository, issue, given.labels)
  if (!given.asPull) state.emit({ event: 'issues', action: 'opened', repository, issue, sender: given.author })
  return issue
}

export type NewComment = { author: Account | null; body: string; byApp?: boolean; id?: number | undefined }

export function addComment(state: GitHubState, repository: Repository, issue: Issue, given: NewComment): Comment {
  const now = state.now()
  const comment: Comment = {
    id: given.id ?? state.nextId(),
    issueNumber: issue.number,
    author: given.author,
    byApp: given.byApp ?? false,
    versions: [{ at: now, body: given.body }],
    reactions: [],
    createdAt: now,
  }
  repository.comments.set(comment.id, comment)
  issue.updatedAt = now
  state.emit({ event: 'issue_comment', action: 'created', repository, comment, sender: given.author })
  return comment
}

export function editComment(state: GitHubState, repository: Repository, comment: Comment, body: string, sender: Account | null): void {
  comment.versions.push({ at: state.now(), body })
  state.emit({ event: 'issue_comment', action: 'edited', repository, comment, sender })
}

export function deleteComment(state: GitHubState, repository: Repository, comment: Comment, sender: Account | null): void {
  state.emit({ event: 'issue_comment', action: 'deleted', repository, comment, sender })
  repository.comments.delete(comment.id)
}

/** Closes or reopens; a merged pull request can not be opened again. */
export function setIssueState(
  state: GitHubState,
  repository: Repository,
  issue: Issue,
  to: 'open' | 'closed',
  sender: Account | null,
  reason: Exclude<Issue['stateReason'], 'reopened'> = 'completed',
): void {
  if (issue.state === to || (to === 'open' && issue.pull?.merged)) return
  issue.state = to
  issue.stateReason = issue.pull ? null : to === 'closed' ? reason : 'reopened'
  issue.closedAt = to === 'closed' ? state.now() : null
  issue.closedBy = to === 'closed' ? sender : null
  issue.updatedAt = state.now()
  const action = to === 'closed' ? 'closed' : 'reopened'
  state.emit({ event: issue.pull ? 'pull_request' : 'issues', action, repository, issue, sender })
}
