import type { TaskAccepted } from '../domain/index.ts'
import { permissionsOf } from '../effects/index.ts'
import type { MintCall } from '../github/index.ts'

/** What the ledger says about the task a worker asks for. */
export type MintFacts = {
  accepted: TaskAccepted | null
  newestAttempt: number
  /** The attempt that asks is the newest and its lease has not run out. */
  holds: boolean
  hasEnded: boolean
  /** It ended before any effect that is still tried was sent. */
  endedLongAgo: boolean
}

/** `later`: nothing is wrong with the call, and asked again it may be granted. */
export type MintDecision = { kind: 'granted' } | { kind: 'refused' | 'later'; reason: string }

/**
 * Whether a worker gets this token: for its own task, within the task's own repository and no more than the task's effects
 * need. After the end only to look: what may have been sent is read back, and the last words are said.
 */
export function decideMint(call: MintCall, facts: MintFacts): MintDecision {
  const reason = refusalOf(call, facts)
  if (reason !== null) return { kind: 'refused', reason }
  // Its renewal is late; while nobody has taken over, the next one makes it the holder again.
  if (!facts.holds && !facts.hasEnded) return { kind: 'later', reason: 'the lease of the attempt has run out' }
  return { kind: 'granted' }
}

function refusalOf(call: MintCall, { accepted, newestAttempt, hasEnded, endedLongAgo }: MintFacts): string | null {
  if (accepted === null) return 'there is no such task'
  if (accepted.installationId !== call.installationId || accepted.repository.id !== call.repositoryId)
    return "the token is for another repository than the task's"
  if (call.for.attempt !== newestAttempt) return 'a newer attempt has the task'
  if (endedLongAgo) return 'the task ended too long ago'
  // What GitHub makes of none at all is not ours to find out.
  if (Object.keys(call.permissions).length === 0) return 'it names no permission'
  const granted = permissionsOf(accepted.grant.effects)
  for (const [name, level] of Object.entries(call.permissions)) {
    if (!Object.hasOwn(granted, name) || (level === 'write' && granted[name] !== 'write')) return `the task needs no ${name}: ${level}`
    if (hasEnded && level === 'write' && !saidAfterEnd.includes(name)) return `after its end the task needs no ${name}: ${level}`
  }
  return null
}

/** A comment, a reply and a check run may still have to say how the task ended. */
const saidAfterEnd: readonly string[] = ['issues', 'pull_requests', 'checks']
