import { classifyError } from '../github/index.ts'
import { GitHubAway } from './effect-ports.ts'

/** How long GitHub asked to be left alone, in milliseconds, where an error says so. */
export function askedWaitOf(error: unknown): number | null {
  if (error instanceof GitHubAway) return error.waitMs
  const fault = classifyError(error)
  return fault.kind === 'later' ? fault.waitMs : null
}
