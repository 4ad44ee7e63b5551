export type { Octokit } from '@octokit/rest'
export { classifyError, type RequestFault } from './classify-error.ts'
export {
  type CommentFound,
  createComment,
  createReaction,
  listComments,
  listReactions,
  type ReactionContent,
  type ReactionSubject,
  updateComment,
} from './comments.ts'
export { createGitHubApp, type GitHubApp, type Permissions } from './github-app.ts'
export { createPull, listPullsFrom, type NewPull, type PullFound } from './pulls.ts'
export { type RepositoryFacts, type Role, readBranchSha, readRepository, readRole } from './read-facts.ts'
