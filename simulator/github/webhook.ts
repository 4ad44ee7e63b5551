import { deliver } from './deliver.ts'
import type { Payloads } from './payload.ts'
import { type Change, fullName, type GitHubState } from './state.ts'

/** Sends what changes as webhooks, as GitHub does: soon, each by itself, in no promised order, and never twice by itself. */
export function createWebhook(state: GitHubState, payloads: Payloads) {
  let url: string | null = null
  const running = new Set<Promise<unknown>>()
  state.emit = change => {
    if (url === null) return
    const to = url
    // Built at once: the payload is a snapshot of this moment, also when a pull request's figures are read later.
    const payload = Promise.resolve(payloadOf(payloads, change))
    const sent = payload.then(body => deliver(state, { event: change.event, payload: body, to }))
    running.add(sent)
    sent.then(
      () => running.delete(sent),
      () => running.delete(sent),
    )
  }
  return {
    set: (to: string | null) => {
      url = to
    },
    settled: async () => {
      while (running.size > 0) await Promise.all(running)
    },
  }
}

function payloadOf(payloads: Payloads, change: Change): object | Promise<object> {
  const repo = fullName(change.repository)
  const sender = change.sender ? { sender: change.sender.login } : {}
  switch (change.event) {
    case 'issue_comment':
      return payloads.issueComment(change.action, { repo, commentId: change.comment.id, ...sender })
    case 'issues':
      return payloads.issues(change.action, { repo, number: change.issue.number, ...sender })
    case 'pull_request': {
      const before = change.before === undefined ? {} : { before: change.before }
      return payloads.pullRequest(change.action, { repo, number: change.issue.number, ...before, ...sender })
    }
  }
}
