/** The limits of the decisions, each with its unit. They follow from how they work and not from what an operator runs. */
export const domainLimits = {
  /** Parts of paths that links are followed over, from the protected names on; beyond it, all of a change is refused. */
  linkedPartsMax: 200_000,
} as const
