import type { Cell } from './event.ts'
import type { TestCounts } from './test-counts.ts'

/** One check's four cells; a cell that was not run is absent. */
export type CellResult = { exitCode: number | null; killedBy: string | null; counts: TestCounts | null; setupFailed?: boolean }
export type CheckEvidence = { name: string; cells: Partial<Record<Cell, CellResult>> }
export type Judgement = { verdict: 'proven' | 'unproven'; reasons: string[] }

/**
 * "Proven" needs positive evidence: at least one check ran on the new code and passed it with the base's tests as well as
 * with its own, tests ran where they are counted, and none that ran on the base went away. Everything else is unproven,
 * with a reason for each missing part. Pure.
 */
export function judgeEvidence(checks: readonly CheckEvidence[], facts: { setupFailed: boolean }): Judgement {
  const reasons: string[] = []
  if (facts.setupFailed) reasons.push('setup failed, so the checks ran without it')
  if (checks.length === 0) reasons.push('no check is configured or could be detected')
  for (const check of checks) reasons.push(...judgeCheck(check))
  return { verdict: reasons.length === 0 ? 'proven' : 'unproven', reasons }
}

function judgeCheck({ name, cells }: CheckEvidence): string[] {
  const { newCodeNewTests, newCodeBaseTests, baseCodeBaseTests } = cells
  if (!newCodeNewTests) return [`\`${name}\` did not run on the new code`]
  if (!hasPassed(newCodeNewTests)) return [`\`${name}\` fails on the new code (${endOf(newCodeNewTests)})`]
  // What was left by a setup that failed may be the very thing that lets a check pass.
  if (newCodeNewTests.setupFailed || newCodeBaseTests?.setupFailed) return [`\`${name}\` ran on new code whose setup failed`]
  if (!newCodeBaseTests) return [`\`${name}\` did not run on the new code with the base's tests`]
  const reasons: string[] = []
  if (!hasPassed(newCodeBaseTests))
    reasons.push(`\`${name}\` passes only with changed tests: with the base's it fails (${endOf(newCodeBaseTests)})`)
  if (newCodeNewTests.counts?.passed === 0) reasons.push(`\`${name}\` passes, but ran no test`)
  if (!baseCodeBaseTests) reasons.push(`\`${name}\` did not run on the base, so nothing can be compared`)
  else {
    // The new tests may make up for base tests that the new code keeps from running: both are compared with the base.
    const [reason] = [
      ...fell(name, baseCodeBaseTests, newCodeNewTests, ''),
      ...fell(name, baseCodeBaseTests, newCodeBaseTests, " of the base's"),
    ]
    if (reason) reasons.push(reason)
  }
  return reasons
}

/** An exit code of 0 beside counted failures is a check that hides them, such as one ending in `|| true`. */
export function hasPassed({ exitCode, killedBy, counts }: Omit<CellResult, 'setupFailed'>): boolean {
  return exitCode === 0 && killedBy === null && (counts === null || counts.failed === 0)
}

function endOf({ exitCode, killedBy, counts }: CellResult): string {
  if (killedBy) return `killed: ${killedBy}`
  return counts && counts.failed > 0 ? `${counts.failed} of ${counts.passed + counts.failed} fail` : `exit ${exitCode}`
}

/** Tests that ran before and do not run any more, whether removed, skipped or no longer reported. */
function fell(name: string, base: CellResult, now: CellResult, whose: string): string[] {
  if (base.counts === null) return []
  if (now.counts === null) return [`\`${name}\` no longer says how many${whose} tests ran`]
  const before = base.counts.passed + base.counts.failed
  const after = now.counts.passed + now.counts.failed
  return after < before ? [`\`${name}\` ran ${after}${whose} tests, ${before} on the base`] : []
}
