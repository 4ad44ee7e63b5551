import { type Answer, refused } from './answer.ts'
import type { Account, GitHubState, Repository } from './state.ts'
import type { Targets } from './target.ts'

/** What the place itself refuses, whatever the permission: it is archived, has no issues, or its owner blocked who asks. */
export function refuseHere(
  state: GitHubState,
  { repository, issue }: Targets,
  { method, actor }: { method: string; actor: Account | null },
): Answer | null {
  if (!repository) return null
  if (issue && !issue.pull && !repository.hasIssues) return refused(410, 'Issues are disabled for this repo')
  if (method === 'GET') return null
  if (repository.archived) return refused(403, 'Repository was archived so is read-only.')
  return actor && isBlocked(state, repository, actor) ? refused(403, 'User is blocked') : null
}

function isBlocked(state: GitHubState, repository: Repository, actor: Account): boolean {
  return state.blocked.get(repository.owner.id)?.has(actor.id) ?? false
}

/** GitHub's words to who may not speak, edit or react in a locked conversation. */
export function refuseLocked(what: 'create comment' | 'update comment' | 'create reaction'): Answer {
  return refused(403, `Unable to ${what} because issue is locked.`, 'https://docs.github.com/articles/locking-conversations/')
}
