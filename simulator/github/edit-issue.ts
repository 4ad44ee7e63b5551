import type { Edits } from './change.ts'
import { closingNumbers } from './open-pull.ts'
import { type Account, fullName, type GitHubState, type Issue, type Repository } from './state.ts'

export type IssueEdit = { title?: string | undefined; body?: string | null | undefined; base?: { ref: string; sha: string } | undefined }

/** Changes the words of an issue or a pull request, or a pull request's base: one event for all of it, if anything changed. */
export function editIssue(state: GitHubState, repository: Repository, issue: Issue, edit: IssueEdit, sender: Account | null): void {
  const changes: Edits = {}
  const { pull } = issue
  if (edit.title !== undefined && edit.title !== issue.title) {
    changes.title = { from: issue.title }
    issue.title = edit.title
  }
  if (edit.body !== undefined && edit.body !== issue.body) {
    changes.body = { from: issue.body }
    issue.body = edit.body
    if (pull) pull.closes = closingNumbers(edit.body ?? '', fullName(repository))
  }
  if (pull && edit.base && edit.base.ref !== pull.base.ref) {
    changes.base = { ref: { from: pull.base.ref }, sha: { from: pull.base.sha } }
    pull.base = edit.base
  }
  if (Object.keys(changes).length === 0) return
  issue.updatedAt = state.now()
  state.emit({ event: pull ? 'pull_request' : 'issues', action: 'edited', repository, issue, sender, changes })
}
