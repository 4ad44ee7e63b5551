import type { Payload } from './event.ts'

/** How a check went, in a few words; undefined: that cell of it did not run. */
export function resultWords(check: Pick<Payload<'check.settled'>, 'counts' | 'exitCode' | 'killedBy'> | undefined): string {
  if (!check) return 'not run'
  const { counts, exitCode, killedBy } = check
  if (killedBy) return `killed: ${killedBy}`
  if (!counts) return exitCode === 0 ? 'passes' : `fails, exit ${exitCode}`
  const all = counts.passed + counts.failed
  return exitCode === 0
    ? `${counts.passed} of ${all} pass`
    : counts.failed > 0
      ? `${counts.failed} of ${all} fail`
      : `fails, exit ${exitCode}`
}
