import type { Targets } from './target.ts'

/**
 * Takes a copy of what a request may change, and answers the function that puts it back: the edit that GitHub confirmed
 * and lost. Accounts and repositories within stay the same objects.
 */
export function rememberTargets({ issue, comment, review, reviewComment, checkRun, repository }: Targets): () => void {
  const issueBefore = issue && {
    ...issue,
    labels: [...issue.labels],
    reactions: [...issue.reactions],
    pull: issue.pull && { ...issue.pull },
  }
  const commentBefore = comment && { ...comment, versions: [...comment.versions], reactions: [...comment.reactions] }
  const checkRunBefore = checkRun && { ...checkRun }
  const reviewBefore = review && { ...review }
  const reviewCommentBefore = reviewComment && { ...reviewComment, reactions: [...reviewComment.reactions] }
  const mapsBefore = repository && {
    comments: new Map(repository.comments),
    reviews: new Map(repository.reviews),
    reviewComments: new Map(repository.reviewComments),
  }
  return () => {
    if (issue) Object.assign(issue, issueBefore)
    if (comment) Object.assign(comment, commentBefore)
    if (checkRun) Object.assign(checkRun, checkRunBefore)
    if (review) Object.assign(review, reviewBefore)
    if (reviewComment) Object.assign(reviewComment, reviewCommentBefore)
    if (repository) Object.assign(repository, mapsBefore)
  }
}
