import type { Targets } from './target.ts'

/**
 * Takes a copy of what a request may change, and answers the function that puts it back: the edit that GitHub confirmed
 * and lost. Accounts and repositories within stay the same objects.
 */
export function rememberTargets({ issue, comment, checkRun, repository }: Targets): () => void {
  const issueBefore = issue && {
    ...issue,
    labels: [...issue.labels],
    reactions: [...issue.reactions],
    pull: issue.pull && { ...issue.pull },
  }
  const commentBefore = comment && { ...comment, versions: [...comment.versions], reactions: [...comment.reactions] }
  const checkRunBefore = checkRun && { ...checkRun }
  const commentsBefore = repository && new Map(repository.comments)
  return () => {
    if (issue) Object.assign(issue, issueBefore)
    if (comment) Object.assign(comment, commentBefore)
    if (checkRun) Object.assign(checkRun, checkRunBefore)
    if (repository && commentsBefore) repository.comments = commentsBefore
  }
}
