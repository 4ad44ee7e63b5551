import type { Cell } from './event.ts'
import type { TestCounts } from './test-counts.ts'

/** One check's four cells; a cell that was not run is absent. */
export type CellResult = { exitCode: number | null; killedBy: string | null; counts: TestCounts | null }
export type CheckEvidence = { name: string; cells: Partial<Record<Cell, CellResult>> }
export type Judgement = { verdict: 'proven' | 'unproven'; reasons: string[] }

/**
 * "Proven" needs positive evidence: at least one check ran on the new code and passed it with the base's tests as well as
 * with its own, and no counted test went away. Everything else is unproven, with a reason for each missing part. Pure.
 */
export function judgeEvidence(
  checks: readonly CheckEvidence[],
  facts: { changedTests: number; setupFailed: boolean; tainted: boolean },
): Judgement {
  const reasons: string[] = []
  if (facts.setupFailed) reasons.push('setup failed, so the checks ran without it')
  if (checks.length === 0) reasons.push('no check is configured or could be detected')
  for (const check of checks) reasons.push(...judgeCheck(check))
  return { verdict: reasons.length === 0 ? 'proven' : 'unproven', reasons }
}

function judgeCheck({ name, cells }: CheckEvidence): string[] {
  const { newCodeNewTests, newCodeBaseTests, baseCodeBaseTests } = cells
  if (!newCodeNewTests) return [`\`${name}\` did not run on the new code`]
  if (!passed(newCodeNewTests)) return [`\`${name}\` fails on the new code (${endOf(newCodeNewTests)})`]
  if (!newCodeBaseTests) return [`\`${name}\` did not run on the new code with the base's tests`]
  const reasons: string[] = []
  if (!passed(newCodeBaseTests))
    reasons.push(`\`${name}\` passes only with changed tests: with the base's it fails (${endOf(newCodeBaseTests)})`)
  if (!baseCodeBaseTests) reasons.push(`\`${name}\` did not run on the base, so nothing can be compared`)
  else reasons.push(...fell(name, baseCodeBaseTests.counts, newCodeNewTests.counts))
  return reasons
}

function passed({ exitCode, killedBy }: CellResult): boolean {
  return exitCode === 0 && killedBy === null
}

function endOf({ exitCode, killedBy, counts }: CellResult): string {
  if (killedBy) return `killed: ${killedBy}`
  return counts && counts.failed > 0 ? `${counts.failed} of ${counts.passed + counts.failed} fail` : `exit ${exitCode}`
}

/** Tests that ran before and do not run any more, whether removed, skipped or no longer reported. */
function fell(name: string, base: TestCounts | null, now: TestCounts | null): string[] {
  if (base === null) return []
  if (now === null) return [`\`${name}\` no longer says how many tests ran`]
  const before = base.passed + base.failed
  const after = now.passed + now.failed
  return after < before ? [`\`${name}\` ran ${after} tests, ${before} on the base`] : []
}
