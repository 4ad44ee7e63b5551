import type { CheckRun, Comment, Issue, Pull, Repository, Review, ReviewComment } from './state.ts'

export type Targets = {
  repository?: Repository
  issue?: Issue
  pull?: Pull
  comment?: Comment
  review?: Review
  reviewComment?: ReviewComment
  checkRun?: CheckRun
}

type Params = Record<string, string>

/** Finds what a row's parameters name; null (GitHub's 404) when one is not there. */
export function findTargets(path: string, repository: Repository | null, params: Params): Targets | null {
  if (!repository) return {}
  const targets: Targets = { repository }
  const number = params.issue_number ?? params.pull_number
  if (number !== undefined) {
    const issue = repository.issues.get(Number(number))
    if (!issue || (params.pull_number !== undefined && !issue.pull)) return null
    setIssue(targets, issue)
  }
  if (params.comment_id !== undefined) {
    // The same name for two kinds of things: below `pulls` it is a comment on a diff.
    const found = path.includes('/pulls/') ? findReviewComment(targets, repository, params) : findComment(targets, repository, params)
    if (!found) return null
  }
  if (params.review_id !== undefined) {
    const review = repository.reviews.get(Number(params.review_id))
    if (!review || review.issueNumber !== targets.issue?.number) return null
    targets.review = review
  }
  if (params.check_run_id !== undefined) {
    const checkRun = repository.checkRuns.get(Number(params.check_run_id))
    if (!checkRun) return null
    targets.checkRun = checkRun
  }
  return targets
}

function setIssue(targets: Targets, issue: Issue): void {
  targets.issue = issue
  if (issue.pull) targets.pull = issue.pull
}

function findComment(targets: Targets, repository: Repository, params: Params): boolean {
  const comment = repository.comments.get(Number(params.comment_id))
  const issue = comment && repository.issues.get(comment.issueNumber)
  if (!comment || !issue) return false
  targets.comment = comment
  targets.issue = issue
  return true
}

function findReviewComment(targets: Targets, repository: Repository, params: Params): boolean {
  const reviewComment = repository.reviewComments.get(Number(params.comment_id))
  const issue = reviewComment && repository.issues.get(reviewComment.issueNumber)
  if (!reviewComment || !issue || (targets.issue && targets.issue !== issue)) return false
  targets.reviewComment = reviewComment
  setIssue(targets, issue)
  return true
}
