/** Git's own limits, each with its unit. They follow from how it works and not from what an operator runs. */
export const gitLimits = {
  /** A patch above this is not made: the change's files are then searched for credentials one by one, and no patch is kept. */
  patchBytesMax: 134_217_728,
} as const
