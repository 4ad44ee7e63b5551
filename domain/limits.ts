/** The limits of the decisions, each with its unit. They follow from how they work and not from what an operator runs. */
export const domainLimits = {
  /** Parts of paths that links are followed over, from the protected names on; beyond it, all of a change is refused. */
  linkedPartsMax: 200_000,
  /** What of one line of a check's output is looked at for counts; a line that says them is far shorter. */
  countedLineCharactersMax: 4_096,
  /** Lines of one suggestion, before or after: more of a change is read as a patch. */
  suggestedLinesMax: 20,
} as const
