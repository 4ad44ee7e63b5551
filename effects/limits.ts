/** The effects' own limits, each with its unit. They follow from how it works and not from what an operator runs. */
export const effectsLimits = {
  /** How often one effect is sent in a row before it is left to whoever waits longer. */
  triesMax: 3,
  /** A longer wait than this is not waited for here: the caller knows better what to do meanwhile. */
  laterWaitMsMax: 120_000,
  /** The same of an installation's turn to write. */
  turnWaitMsMax: 120_000,
  /** A token that is refused although it was just made needs a moment to be known everywhere; the next try has a new one. */
  staleTokenWaitMs: 1_000,
  /** What of one text is made inert: GitHub takes no longer body or comment, and patterns are read on the thread that renews leases. */
  filteredCharactersMax: 65_536,
  /** Open effects that one turn of the outbox or the sweep looks at beside those that wait. */
  openAtOnceMax: 100,
} as const
