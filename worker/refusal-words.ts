import type { ProblemCode } from '../domain/index.ts'
import type { Settled } from '../effects/index.ts'
import type { Fallen } from './fallen.ts'

type SettledEffect = Settled & { kind: 'settled' }

/** What a class of refused push means, for people; the remote's own words stand behind it. */
const meanings: Readonly<Record<string, { code: ProblemCode; words: string }>> = {
  workflows: { code: 'push-workflows', words: 'this repository refuses changes to `.github/workflows` from Apps' },
  protected: { code: 'push-protected', words: 'the rules of this repository refuse it' },
  unsigned: { code: 'push-unsigned', words: 'it takes signed commits only' },
  denied: { code: 'push-denied', words: 'the App has no write access' },
  moved: { code: 'push-moved', words: 'somebody else pushed to the branch meanwhile' },
}

/** Why a push was refused: our sentence by its class, and what the remote said, word for word. */
export function refusedPush({ reason, remote }: Pick<SettledEffect, 'reason' | 'remote'>): Fallen {
  const { refusal, said, sha, note } = remote
  // Not by the remote itself: no token for the place, or found out by reading the branch.
  if (typeof refusal !== 'string')
    return { kind: 'fallen', code: typeof sha === 'string' ? 'push-moved' : 'push-not-granted', why: `I may not push here: ${reason}` }
  const { code, words } = meanings[refusal] ?? { code: 'push-refused', words: 'the push was refused' }
  const quoted = typeof said === 'string' && said !== '' ? ` (GitHub said: "${said}")` : ''
  const why = `I may not push here: ${words}${typeof note === 'string' ? `, and ${note}` : ''}${quoted}`
  return { kind: 'fallen', code, why }
}

/** A rejected effect is a rung that does not hold; of an unknown one nobody can say. */
export function settledWhy({ state, reason }: SettledEffect, fallen: Fallen): Fallen | { kind: 'unknown'; reason: string } {
  return state === 'rejected' ? fallen : { kind: 'unknown', reason }
}
