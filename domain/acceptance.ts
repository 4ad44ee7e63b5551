import { type CommandRow, commandTable, findCommand, profileOf } from './command.ts'

/** One `/grok …` line as it was written: nothing is decided yet. */
export type WrittenCommand = { index: number; word: string; text: string }

/** What was read for one decision; every field comes from GitHub's API or the operator, never from the comment. */
export type Facts = {
  ownerAllowed: boolean
  actor: { id: number; login: string; kind: 'user' | 'bot' | 'self' }
  botAllowed: boolean
  role: 'none' | 'read' | 'triage' | 'write' | 'maintain' | 'admin'
  subject: 'issue' | 'pull'
  archived: boolean
  locked: boolean
  /** Null: the default branch does not exist (an empty repository). */
  baseSha: string | null
  defaultBranch: string
  killSwitch: 'on' | 'pulled'
  budget: { kind: 'ok' } | { kind: 'spent'; words: string }
  /** Whether the issue's own text comes from somebody who may write here. */
  subjectTrusted: boolean
  /** The sandbox profile the operator has set; null = the command's own. */
  operatorProfile: string | null
}

export type Acceptance =
  | { kind: 'accepted'; row: CommandRow }
  /** Answered with one sentence; `words` is that sentence. */
  | { kind: 'refused'; reason: RefusalReason; words: string }
  /** Nothing is said: our own or a foreign bot's comment, an owner that is not served. */
  | { kind: 'ignored'; reason: 'own-comment' | 'bot' | 'owner-not-allowed' }

export type RefusalReason =
  | 'unknown-command'
  | 'role'
  | 'wrong-place'
  | 'archived'
  | 'locked'
  | 'empty-repository'
  | 'switched-off'
  | 'budget'
  | 'no-profile'

const verbs = commandTable.map(row => `\`${row.verb}\``).join(', ')
const ranks = ['none', 'read', 'triage', 'write', 'maintain', 'admin'] as const

/** Pure: the same facts always give the same answer. Anything unknown is refused with a reason. */
export function decideAcceptance(command: WrittenCommand, facts: Facts, prefix: string): Acceptance {
  if (facts.actor.kind === 'self') return { kind: 'ignored', reason: 'own-comment' }
  if (facts.actor.kind === 'bot' && !facts.botAllowed) return { kind: 'ignored', reason: 'bot' }
  if (!facts.ownerAllowed) return { kind: 'ignored', reason: 'owner-not-allowed' }
  const row = findCommand(command.word)
  if (!row) return refuse('unknown-command', `\`${prefix} ${printable(command.word)}\` is not a command. Try ${verbs}.`)
  const named = `\`${prefix} ${row.verb}\``
  if (ranks.indexOf(facts.role) < ranks.indexOf(row.needs))
    return refuse('role', `${named} needs ${row.needs} access here; you have ${facts.role}. A maintainer can run it for you.`)
  if (!row.where.includes(facts.subject)) return refuse('wrong-place', `${named} works on ${row.where.map(placeName).join(' and ')} only.`)
  if (row.road !== 'fix') return { kind: 'accepted', row }
  if (facts.archived) return refuse('archived', 'Not started: this repository is archived.')
  if (facts.locked) return refuse('locked', 'Not started: this conversation is locked.')
  if (facts.killSwitch === 'pulled') return refuse('switched-off', 'Not started: the operator has switched runs off.')
  if (facts.baseSha === null) {
    return refuse('empty-repository', `Not started: there is nothing to check out, \`${facts.defaultBranch}\` has no commit yet.`)
  }
  if (profileOf(row, { operatorProfile: facts.operatorProfile, trusted: facts.subjectTrusted }) === null) return refuseProfile(facts)
  if (facts.budget.kind === 'spent') return refuse('budget', facts.budget.words)
  return { kind: 'accepted', row }
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
