import type { Account, Comment, GitHubState, Issue, Repository } from './state.ts'

export type NewIssue = {
  author: Account | null
  title: string
  body: string | null
  byApp?: boolean
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
    assignees: [],
    reactions: [],
    createdAt: now,
    updatedAt: now,
    closedAt: null,
    pull: null,
  }
  repository.issues.set(number, issue)
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
  return comment
}
