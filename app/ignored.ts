import type { Acceptance } from '../domain/index.ts'

/** Nothing is done for a delivery: `why` for counting, a closed set, and `reason` for people, with what it was about. */
export type Ignored = { kind: 'ignored'; why: IgnoredWhy; reason: string }

export type IgnoredWhy = (typeof whysOfIntake)[number] | Extract<Acceptance, { kind: 'ignored' }>['reason']

const whysOfIntake = [
  'malformed',
  'no-author',
  'sender-differs',
  'foreign-check-run',
  'closed',
  'no-command',
  'facts-refused',
  'too-late',
] as const

export const ignoredWhys: readonly IgnoredWhy[] = [...whysOfIntake, 'own-comment', 'bot', 'bot-loop', 'owner-not-allowed']

export function ignored(why: IgnoredWhy, reason: string): Ignored {
  return { kind: 'ignored', why, reason }
}
