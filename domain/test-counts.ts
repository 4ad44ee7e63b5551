export type TestCounts = { passed: number; failed: number; skipped: number }

type Reader = { runner: string; read(output: string): TestCounts | null }

/**
 * How many tests ran, read from the closing lines of known runners. Null means "not known", never "none": a check whose
 * counts are not known can prove by its exit code, but can not show that no test went away.
 */
export const countReaders: readonly Reader[] = [
  {
    runner: 'node:test',
    read: output =>
      readLines(
        output,
        { passed: /^(?:# |ℹ )pass (\d+)$/m, failed: /^(?:# |ℹ )fail (\d+)$/m, skipped: /^(?:# |ℹ )skipped (\d+)$/m },
        'passed',
      ),
  },
  { runner: 'vitest, jest', read: output => readSummary(output, /^\s*Tests:?\s+(.*\b(?:passed|failed)\b.*)$/m) },
  {
    runner: 'pytest',
    read: output =>
      readSummary(output, /^(?:=+ )?((?:\d+ (?:passed|failed|skipped|errors?|xfailed|xpassed|deselected|warnings?)(?:, )?)+) in [\d.]+s/m),
  },
  {
    runner: 'go test -v',
    read: output =>
      /^(?:=== RUN|--- (?:PASS|FAIL))/m.test(output)
        ? countMatches(output, { passed: /^\s*--- PASS: /gm, failed: /^\s*--- FAIL: /gm, skipped: /^\s*--- SKIP: /gm })
        : null,
  },
  {
    runner: 'go test',
    read: output =>
      /^(?:ok|FAIL|---)\s+\S+/m.test(output) && /^(?:ok|FAIL)\s+\S+\s+(?:[\d.]+s|\(cached\))/m.test(output)
        ? countMatches(output, { passed: /^ok\s+\S+/gm, failed: /^FAIL\s+\S+\s+[\d.]+s/gm, skipped: /$^/g })
        : null,
  },
  {
    runner: 'tap',
    read: output =>
      /^TAP version/m.test(output)
        ? countMatches(output, { passed: /^ok \d+(?!.*# skip)/gim, failed: /^not ok \d+/gim, skipped: /^ok \d+.*# skip/gim })
        : null,
  },
  { runner: 'plain', read: output => readSummary(output, /^(\d+ passed,? \d+ failed(?:,? \d+ skipped)?)/m) },
]

export function readTestCounts(output: string): TestCounts | null {
  for (const { read } of countReaders) {
    const counts = read(output)
    if (counts) return counts
  }
  return null
}

type Patterns = Record<keyof TestCounts, RegExp>

function readLines(output: string, patterns: Patterns, needed: keyof TestCounts): TestCounts | null {
  if (!patterns[needed].test(output)) return null
  const number = (pattern: RegExp) => Number(pattern.exec(output)?.[1] ?? 0)
  return { passed: number(patterns.passed), failed: number(patterns.failed), skipped: number(patterns.skipped) }
}

function readSummary(output: string, line: RegExp): TestCounts | null {
  const summary = line.exec(output)?.[1]
  if (!summary) return null
  const number = (word: string) =>
    [...summary.matchAll(new RegExp(`(\\d+) ${word}`, 'g'))].reduce((sum, match) => sum + Number(match[1]), 0)
  return { passed: number('passed'), failed: number('failed') + number('error'), skipped: number('skipped') + number('todo') }
}

function countMatches(output: string, patterns: Patterns): TestCounts {
  const count = (pattern: RegExp) => output.match(pattern)?.length ?? 0
  return { passed: count(patterns.passed), failed: count(patterns.failed), skipped: count(patterns.skipped) }
}
