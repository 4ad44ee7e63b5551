import type { Change } from './change.ts'
import { deliver } from './deliver.ts'
import { findInstallation } from './installation.ts'
import type { Payloads } from './payload.ts'
import { fullName, type GitHubState } from './state.ts'

/** Sends what changes as webhooks, as GitHub does: soon, each by itself, in no promised order, and never twice by itself. */
export function createWebhook(state: GitHubState, payloads: Payloads) {
  state.emit = change => {
    const to = state.webhookUrl
    if (to === null || !isHeard(state, change)) return
    // Built at once: the payload is a snapshot of this moment, also when a pull request's figures are read later.
    const payload = Promise.resolve(payloadOf(payloads, change))
    const sent = payload.then(body => deliver(state, { event: change.event, payload: body, to }))
    state.sending.add(sent)
    sent.then(
      () => state.sending.delete(sent),
      () => state.sending.delete(sent),
    )
  }
  return {
    set: (to: string | null) => {
      state.webhookUrl = to
    },
    settled: async () => {
      while (state.sending.size > 0) await Promise.all(state.sending)
    },
  }
}

/** An App hears nothing of a repository it is not, or not now, installed on; of its installations it always does. */
function isHeard(state: GitHubState, change: Change): boolean {
  if ('installation' in change) return true
  const installation = findInstallation(state, change.repository)
  return installation !== undefined && installation.suspendedAt === null
}

function payloadOf(payloads: Payloads, change: Change): object | Promise<object> {
  const sender = change.sender ? { sender: change.sender.login } : {}
  switch (change.event) {
    case 'installation':
      return payloads.installation(change.action, { owner: change.installation.account.login, ...sender })
    case 'installation_repositories': {
      const repos = change.repositories.map(fullName)
      return payloads.installationRepositories(change.action, { owner: change.installation.account.login, repos, ...sender })
    }
    default:
      return ofRepository(payloads, change, { repo: fullName(change.repository), ...sender })
  }
}

type OfRepository = Exclude<Change, { installation: unknown }>

function ofRepository(payloads: Payloads, change: OfRepository, common: { repo: string; sender?: string }): object | Promise<object> {
  const before = 'before' in change && change.before !== undefined ? { before: change.before } : {}
  const changes = 'changes' in change && change.changes ? { changes: change.changes } : {}
  switch (change.event) {
    case 'issue_comment':
      return payloads.issueComment(change.action, { ...common, commentId: change.comment.id })
    case 'issues':
      return payloads.issues(change.action, { ...common, number: change.issue.number, ...changes })
    case 'pull_request':
      return payloads.pullRequest(change.action, { ...common, number: change.issue.number, ...before, ...changes })
    case 'pull_request_review':
      return payloads.pullRequestReview(change.action, { ...common, reviewId: change.review.id, ...before })
    case 'pull_request_review_comment':
      return payloads.pullRequestReviewComment(change.action, { ...common, commentId: change.reviewComment.id, ...before })
    case 'check_run': {
      const identifier = change.action === 'requested_action' ? { identifier: change.identifier } : {}
      return payloads.checkRun(change.action, { ...common, checkRunId: change.checkRun.id, ...identifier })
    }
  }
}
