import type { GitHubState } from '../state.ts'
import { createAppActions } from './app-actions.ts'
import { createOwnerActions } from './owner-actions.ts'
import { createReviewActions } from './review-actions.ts'
import { createThreadActions } from './thread-actions.ts'

/** What people do on GitHub's side: no token is checked. */
export type World = ReturnType<typeof createWorld>

export function createWorld(state: GitHubState, folder: string) {
  return {
    ...createOwnerActions(state, folder),
    ...createThreadActions(state),
    ...createReviewActions(state),
    ...createAppActions(state),
  }
}
