/**
 * What is kept of what GitHub sends: everything else is answered 202 and forgotten. Only what is new starts work: an edit, and
 * above all the removal, of a comment that names commands must not give them again.
 */
export const servedEvents = {
  issue_comment: ['created'],
  issues: ['opened', 'closed'],
  pull_request: ['opened', 'closed'],
  pull_request_review: ['submitted'],
  pull_request_review_comment: ['created'],
  check_run: ['rerequested', 'requested_action'],
} as const satisfies Record<string, readonly string[]>

export type ServedEvent = keyof typeof servedEvents

export function isServedEvent(event: string): event is ServedEvent {
  return Object.hasOwn(servedEvents, event)
}

export function isServedAction(event: string, action: string): boolean {
  return isServedEvent(event) && (servedEvents[event] as readonly string[]).includes(action)
}
