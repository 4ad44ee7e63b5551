import type { Settled } from '../effects/index.ts'
import type { Fallen } from './deliver.ts'

type SettledEffect = Settled & { kind: 'settled' }

/** What a class of refused push means, for people; the remote's own words stand behind it. */
const meanings: Readonly<Record<string, string>> = {
  workflows: 'this repository refuses changes to `.github/workflows` from Apps',
  protected: 'the rules of this repository refuse it',
  denied: 'I am not let write here',
  moved: 'the branch is not where it was any more',
}

/** Why a push was refused: our sentence by its class, and what the remote said, word for word. */
export function refusalWords({ reason, remote }: Pick<SettledEffect, 'reason' | 'remote'>): string {
  const { refusal, said } = remote
  // Not by the remote itself: no token for the place, or found out by reading the branch.
  if (typeof refusal !== 'string') return `I may not push here: ${reason}`
  const meaning = meanings[refusal] ?? 'the push was refused'
  return `I may not push here: ${meaning}${typeof said === 'string' && said !== '' ? ` (GitHub said: "${said}")` : ''}`
}

/** A rejected effect is a rung that does not hold; of an unknown one nobody can say. */
export function settledWhy({ state, reason }: SettledEffect, why: string): Fallen | { kind: 'unknown'; reason: string } {
  return state === 'rejected' ? { kind: 'fallen', why } : { kind: 'unknown', reason }
}
