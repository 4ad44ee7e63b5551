export type { Octokit } from '@octokit/rest'
export { type CheckRunFound, createCheckRun, findCheckRun, type NewCheckRun, updateCheckRun } from './check-runs.ts'
export { classifyError, type RequestFault } from './classify-error.ts'
export {
  type CommentFound,
  createComment,
  createReaction,
  createReply,
  listComments,
  listReactions,
  listReviewComments,
  type ReactionContent,
  type ReactionSubject,
  updateComment,
} from './comments.ts'
export { type HookDeliveries, type HookDelivery, listHookDeliveries, redeliver } from './deliveries.ts'
export {
  createBlob,
  createBranch,
  createCommit,
  createTree,
  forwardBranch,
  type GitCommit,
  listCommitsBetween,
  type TreeEntry,
} from './git-data.ts'
export { createGitHubApp, type GitHubApp, type Permissions } from './github-app.ts'
export { type IdentityAnswer, MintAnswer, MintCall, passedHeaders } from './mint-channel.ts'
export { type PullStanding, readPullStanding } from './pull-standing.ts'
export { createPull, listPullsFrom, type NewPull, type PullFacts, type PullFound, readPull } from './pulls.ts'
export { isInHistory, type RepositoryFacts, readBranchSha, readRepository, readRole } from './read-facts.ts'
export { createRemoteApp } from './remote-app.ts'
export { createReview, listReviews, type NewReview } from './reviews.ts'
export { readThreadStanding, type ThreadStanding } from './thread-standing.ts'
export { createWritePace, type WriteKind, type WriteLimits, type WritePace } from './write-pace.ts'
