import { setIssueState } from './open-issue.ts'
import { git } from './repository-git.ts'
import type { Account, GitHubState, Issue, Repository } from './state.ts'

/** Merges as a person's button does: a merge commit on the base branch, and the issues the body names are closed. */
export async function mergePull(state: GitHubState, repository: Repository, issue: Issue, sender: Account | null): Promise<string> {
  const { pull } = issue
  if (!pull || issue.state === 'closed') throw new Error(`number ${issue.number} is no open pull request`)
  const { folder } = repository
  const base = await git(folder, ['rev-parse', `refs/heads/${pull.base.ref}`])
  const tree = (await git(folder, ['merge-tree', '--write-tree', base, pull.head.sha])).split('\n')[0] ?? ''
  const message = `Merge pull request #${issue.number} from ${pull.head.owner.login}/${pull.head.ref}\n\n${issue.title}`
  const sha = await git(folder, ['commit-tree', tree, '-p', base, '-p', pull.head.sha, '-m', message])
  await git(folder, ['update-ref', `refs/heads/${pull.base.ref}`, sha])
  Object.assign(pull, { merged: true, mergedAt: state.now(), mergedBy: sender, mergeCommitSha: sha })
  setIssueState(state, repository, issue, 'closed', sender)
  for (const number of pull.closes) {
    const closed = repository.issues.get(number)
    if (closed && !closed.pull) setIssueState(state, repository, closed, 'closed', sender)
  }
  return sha
}
