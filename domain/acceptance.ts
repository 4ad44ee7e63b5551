import { type CommandRow, commandTable, findCommand, needsWorker, profileOf } from './command.ts'
import { hasRole, type Role } from './role.ts'

/** One `/grok …` line as it was written: nothing is decided yet. */
export type WrittenCommand = { index: number; word: string; text: string }

/** What was read for one decision; every field comes from GitHub's API or the operator, never from the comment. */
export type Facts = {
  ownerAllowed: boolean
  actor: { id: number; login: string; kind: 'user' | 'bot' | 'self' }
  botAllowed: boolean
  role: Role
  subject: 'issue' | 'pull'
  /** The pull request as it is now; null = the subject is an issue. */
  pull: { isOpen: boolean; fork: boolean; headSha: string; headRef: string; baseRef: string; baseSha: string } | null
  /** The last command of this thread that a worker had and that did not succeed; null = none. */
  lastFailed: { taskId: string; verb: string; text: string } | null
  /** Runs of this thread within the last hour that bots have started. */
  botRuns: number
  archived: boolean
  locked: boolean
  /** Null: the default branch does not exist (an empty repository). */
  baseSha: string | null
  defaultBranch: string
  killSwitch: 'on' | 'pulled'
  /** Whether the issue's own text comes from somebody who may write here. */
  subjectTrusted: boolean
  /** The sandbox profile the operator has set; null = the command's own. */
  operatorProfile: string | null
}

export type Acceptance =
  /** `row`: what is done; of a retry, the row of the command that is given again. */
  | { kind: 'accepted'; row: CommandRow; retries: Facts['lastFailed'] }
  /** Answered with one sentence; `words` is that sentence. */
  | { kind: 'refused'; reason: RefusalReason; words: string }
  /** Nothing is said: our own or a foreign bot's comment, an owner that is not served. */
  | { kind: 'ignored'; reason: 'own-comment' | 'bot' | 'bot-loop' | 'owner-not-allowed' }

export type RefusalReason =
  | 'unknown-command'
  | 'role'
  | 'wrong-place'
  | 'nothing-to-retry'
  | 'archived'
  | 'locked'
  | 'closed'
  | 'empty-repository'
  | 'switched-off'
  /** Decided by the ledger, in the transaction that would have reserved it. */
  | 'budget'
  | 'no-profile'

const verbs = commandTable.map(row => `\`${row.verb}\``).join(', ')

/** What the operator lets one thread's bots start in an hour, and how commands are written here. */
export type AcceptanceSettings = { prefix: string; botRunsPerHourMax: number }

/** Pure: the same facts always give the same answer. Anything unknown is refused with a reason. */
export function decideAcceptance(command: WrittenCommand, facts: Facts, settings: AcceptanceSettings): Acceptance {
  const ignored = ignoreFor(facts, settings)
  if (ignored) return ignored
  const { prefix } = settings
  const asked = findCommand(command.word)
  if (!asked) return refuse('unknown-command', `\`${prefix} ${printable(command.word)}\` is not a command. Try ${verbs}.`)
  const isRetry = asked.road === 'retry'
  const row = isRetry && facts.lastFailed ? findCommand(facts.lastFailed.verb) : asked
  const named = `\`${prefix} ${asked.verb}\``
  for (const { needs } of row ? [asked, row] : [asked]) {
    if (!hasRole(facts.role, needs))
      return refuse('role', `${named} needs ${needs} access here; you have ${facts.role}. A maintainer can run it for you.`)
  }
  if (row === null || (isRetry && facts.lastFailed === null))
    return refuse('nothing-to-retry', 'Not started: no run here has failed, so there is nothing to retry.')
  return (
    refusalOfPlace(row, named, facts) ?? refusalOfRun(row, facts) ?? { kind: 'accepted', row, retries: isRetry ? facts.lastFailed : null }
  )
}

function ignoreFor({ actor, botAllowed, ownerAllowed, botRuns }: Facts, { botRunsPerHourMax }: AcceptanceSettings): Acceptance | null {
  if (actor.kind === 'self') return { kind: 'ignored', reason: 'own-comment' }
  if (actor.kind === 'bot' && !botAllowed) return { kind: 'ignored', reason: 'bot' }
  if (!ownerAllowed) return { kind: 'ignored', reason: 'owner-not-allowed' }
  // Two bots that answer each other would spend without end, and to answer a third time is to go on.
  if (actor.kind === 'bot' && botRuns >= botRunsPerHourMax) return { kind: 'ignored', reason: 'bot-loop' }
  return null
}

/** `named`: the command as it was written. Null: it may stand there. */
export function refusalOfPlace(
  { where }: Pick<CommandRow, 'where'>,
  named: string,
  { subject }: Pick<Facts, 'subject'>,
): Acceptance | null {
  return where.includes(subject) ? null : refuse('wrong-place', `${named} works on ${where.map(placeName).join(' and ')} only.`)
}

/** Why a worker may not start; null = it may, or none is needed. */
function refusalOfRun(row: CommandRow, facts: Facts): Acceptance | null {
  if (!needsWorker(row)) return null
  if (facts.archived) return refuse('archived', 'Not started: this repository is archived.')
  if (facts.locked) return refuse('locked', 'Not started: this conversation is locked.')
  if (row.road === 'fix' && facts.pull?.isOpen === false) return refuse('closed', 'Not started: this pull request is closed.')
  if (facts.killSwitch === 'pulled') return refuse('switched-off', 'Not started: the operator has switched runs off.')
  if (facts.baseSha === null)
    return refuse('empty-repository', `Not started: there is nothing to check out, \`${facts.defaultBranch}\` has no commit yet.`)
  if (profileOf(row, { operatorProfile: facts.operatorProfile, trusted: isTrusted(facts) }) === null) return refuseProfile(facts)
  return null
}

/** Whether all that the task will read first was written by people who may write here: a fork's code was not. */
export function isTrusted({ subjectTrusted, pull }: Pick<Facts, 'subjectTrusted' | 'pull'>): boolean {
  return subjectTrusted && pull?.fork !== true
}

function refuse(reason: RefusalReason, words: string): Acceptance {
  return { kind: 'refused', reason, words }
}

/** The name is the operator's; it is still kept from breaking out of the code it stands in. */
function refuseProfile({ operatorProfile, subjectTrusted }: Facts): Acceptance {
  const set = `the operator's profile \`${printable(operatorProfile ?? '')}\``
  return refuse(
    'no-profile',
    subjectTrusted
      ? `Not started: ${set} is none of this version.`
      : `Not started: this was written by somebody without write access, and no profile is within both \`strict\` and ${set}.`,
  )
}

function placeName(place: 'issue' | 'pull') {
  return place === 'issue' ? 'issues' : 'pull requests'
}

/** A foreign word inside our sentence: short, one line, unable to close the code span it stands in. */
function printable(word: string) {
  return word.replace(/[^\p{L}\p{N}_-]/gu, '').slice(0, 40) || '…'
}
