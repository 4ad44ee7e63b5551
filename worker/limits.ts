/** The worker's own limits, each with its unit. They follow from how it works and not from what an operator runs. */
export const workerLimits = {
  /** A binary file of a change above this is not searched for credentials, and so is left out and named. */
  binaryBytesMax: 16_777_216,
  /** Binary files of one change that are searched, each by its own; when the patch is too large, files of any kind. */
  binaryFilesMax: 200,
} as const
