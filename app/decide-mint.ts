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
}

/**
 * Whether a worker gets this token: for its own task, within the task's own repository and no more than the task's effects
 * need. After the end only to look: what may have been sent is read back, and the last words are said. Null: it does;
 * else why not.
 */
export function refuseMint(call: MintCall, { accepted, newestAttempt, holds, hasEnded }: MintFacts): string | null {
  if (accepted === null) return 'there is no such task'
  if (accepted.installationId !== call.installationId || accepted.repository.id !== call.repositoryId)
    return "the token is for another repository than the task's"
  if (call.for.attempt !== newestAttempt) return 'a newer attempt has the task'
  if (!holds && !hasEnded) return 'the attempt does not hold the task any more'
  const granted = permissionsOf(accepted.grant.effects)
  for (const [name, level] of Object.entries(call.permissions)) {
    if (!Object.hasOwn(granted, name) || (level === 'write' && granted[name] !== 'write')) return `the task needs no ${name}: ${level}`
    if (hasEnded && level === 'write' && !saidAfterEnd.includes(name)) return `after its end the task needs no ${name}: ${level}`
  }
  return null
}

/** A comment, a reply and a check run may still have to say how the task ended. */
const saidAfterEnd: readonly string[] = ['issues', 'pull_requests', 'checks']
