import type { CheckRun, Comment, GitHubState, Issue, Pull, Repository } from './state.ts'

export type Targets = {
  repository?: Repository
  issue?: Issue
  pull?: Pull
  comment?: Comment
  checkRun?: CheckRun
}

/** Finds what a path's parameters name; null (GitHub's 404) when one is not there. */
export function findTargets(_state: GitHubState, repository: Repository | null, params: Record<string, string>): Targets | null {
  if (!repository) return {}
  const targets: Targets = { repository }
  const number = params.issue_number ?? params.pull_number
  if (number !== undefined) {
    const issue = repository.issues.get(Number(number))
    if (!issue || (params.pull_number !== undefined && !issue.pull)) return null
    targets.issue = issue
    if (issue.pull) targets.pull = issue.pull
  }
  if (params.comment_id !== undefined) {
    const comment = repository.comments.get(Number(params.comment_id))
    const issue = comment && repository.issues.get(comment.issueNumber)
    if (!comment || !issue) return null
    targets.comment = comment
    targets.issue = issue
  }
  if (params.check_run_id !== undefined) {
    const checkRun = repository.checkRuns.get(Number(params.check_run_id))
    if (!checkRun) return null
    targets.checkRun = checkRun
  }
  return targets
}
