import { commandTable } from './command.ts'
import type { Outcome } from './outcome.ts'

/** How a check run ended, as GitHub names it. */
export type Conclusion = 'success' | 'failure' | 'neutral' | 'cancelled' | 'timed_out'

/** Neutral counts as passed where the check is required, so that nothing that could not run is neutral. */
const conclusions: Readonly<Record<Outcome, Conclusion>> = {
  succeeded: 'success',
  failed: 'failure',
  errored: 'failure',
  refused: 'neutral',
  cancelled: 'cancelled',
  superseded: 'cancelled',
  'timed-out': 'timed_out',
}

/** `nothingToDo`: the session went to its end and had nothing to change. */
export function conclusionOf(outcome: Outcome, { nothingToDo }: { nothingToDo: boolean }): Conclusion {
  return outcome === 'failed' && nothingToDo ? 'neutral' : conclusions[outcome]
}

/** Ours and fixed: whoever could choose it could stand in for a check that somebody requires. */
export function checkRunName(verb: string): string {
  return `grok / ${verb}`
}

export const checkRunNames: readonly string[] = commandTable.map(({ verb }) => checkRunName(verb))
