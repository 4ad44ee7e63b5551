import type { Edits } from './change.ts'
import type { Links } from './links.ts'
import { createAppPayloads } from './payload-app.ts'
import { commonFields } from './payload-common.ts'
import { createReviewPayloads } from './payload-review.ts'
import { noFacts, readPullFacts } from './pull-facts.ts'
import { renderComment, renderIssue } from './render/issue.ts'
import { renderFigures, renderPull } from './render/pull.ts'
import { type GitHubState, requireAccount, requireIssue, requirePull, requireRepository } from './state.ts'

/** Bodies of webhooks, made from the fake's state at this moment, in the shape GitHub sends. */
export type Payloads = ReturnType<typeof createPayloads>

type Thread = { repo: string; number: number; sender?: string; changes?: Edits }
type CommentRef = { repo: string; commentId: number; sender?: string }

export function createPayloads(state: GitHubState, links: Links) {
  return { ...createThreadPayloads(state, links), ...createReviewPayloads(state, links), ...createAppPayloads(state, links) }
}

function createThreadPayloads(state: GitHubState, links: Links) {
  return {
    issueComment(action: 'created' | 'edited' | 'deleted', given: CommentRef) {
      const repository = requireRepository(state, given.repo)
      const comment = repository.comments.get(given.commentId)
      if (!comment) throw new Error(`${given.repo} has no comment ${given.commentId}`)
      const issue = requireIssue(repository, comment.issueNumber)
      const sender = given.sender === undefined ? comment.author : requireAccount(state, given.sender)
      const before = comment.versions.at(-2)?.body
      return {
        action,
        ...(action === 'edited' ? { changes: { body: { from: before ?? '' } } } : {}),
        issue: renderIssue(state, links, repository, issue),
        comment: renderComment(state, links, repository, comment),
        ...commonFields(state, links, repository, sender),
      }
    },
    issues(action: 'opened' | 'edited' | 'closed' | 'reopened', given: Thread) {
      const repository = requireRepository(state, given.repo)
      const issue = requireIssue(repository, given.number)
      const sender = given.sender === undefined ? issue.author : requireAccount(state, given.sender)
      return {
        action,
        ...changesOf(action, given),
        issue: renderIssue(state, links, repository, issue),
        ...commonFields(state, links, repository, sender),
      }
    },
    async pullRequest(
      action: 'opened' | 'edited' | 'closed' | 'reopened' | 'synchronize' | 'ready_for_review',
      given: Thread & { before?: string },
    ) {
      const repository = requireRepository(state, given.repo)
      const issue = requireIssue(repository, given.number)
      const pull = requirePull(issue)
      const sender = given.sender === undefined ? issue.author : requireAccount(state, given.sender)
      // The figures are read later; what the thread says is what it says at this moment.
      const seen = { ...pull, head: { ...pull.head }, base: { ...pull.base } }
      const thread = renderPull({ state, links, repository, issue, pull }, noFacts)
      const common = commonFields(state, links, repository, sender)
      const facts = await readPullFacts(repository, seen)
      return {
        action,
        number: given.number,
        ...(action === 'synchronize' ? { before: given.before ?? seen.base.sha, after: seen.head.sha } : {}),
        ...changesOf(action, given),
        // GitHub finds out whether it can be merged after it has told of the change.
        pull_request: { ...thread, ...renderFigures(seen, { ...facts, mergeable: null }) },
        ...common,
      }
    },
  }
}

function changesOf(action: string, { changes }: Thread): { changes?: Edits } {
  return action === 'edited' ? { changes: changes ?? {} } : {}
}
