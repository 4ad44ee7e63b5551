export type TestCounts = { passed: number; failed: number; skipped: number }

/** Where in the output its last line about counts begins, and what the output says. */
type Found = { at: number; counts: TestCounts }
type Reader = { runner: string; read(output: string): Found | null }

/**
 * How many tests ran, read from the closing lines of known runners. What a test itself prints comes before them, so the
 * last summary counts, whoever's it looks like. Null means "not known", never "none": a check whose counts are not known
 * can prove by its exit code, but can not show that no test went away.
 */
export const countReaders: readonly Reader[] = [
  {
    runner: 'node:test, tape',
    read: output =>
      readLines(output, {
        passed: /^(?:# |ℹ )pass +(\d+)$/gm,
        failed: /^(?:# |ℹ )(?:fail|cancelled) +(\d+)$/gm,
        skipped: /^(?:# |ℹ )(?:skipped|todo) +(\d+)$/gm,
      }),
  },
  { runner: 'vitest, jest', read: output => readSummary(output, /^[ \t]*Tests:?[ \t]+(\d+ (?:passed|failed|skipped|todo)\b.*)$/gm) },
  {
    runner: 'mocha',
    read: output =>
      readLines(output, { passed: /^ {2}(\d+) passing\b/gm, failed: /^ {2}(\d+) failing\b/gm, skipped: /^ {2}(\d+) pending\b/gm }),
  },
  {
    runner: 'pytest',
    read: output =>
      readSummary(
        output,
        /^(?:=+ )?((?:\d+ (?:passed|failed|skipped|errors?|xfailed|xpassed|deselected|warnings?)(?:, )?)+|no tests ran) in [\d.]+s/gm,
      ),
  },
  { runner: 'unittest', read: readUnittest },
  { runner: 'go test', read: readGoTest },
  { runner: 'ctest', read: readCtest },
  {
    runner: 'tap',
    read: output =>
      /^TAP version/m.test(output)
        ? countLines(output, { passed: /^ok \d+\b(?!.*# skip)/gim, failed: /^not ok \d+/gim, skipped: /^ok \d+\b.*# skip/gim })
        : null,
  },
  { runner: 'plain', read: output => readSummary(output, /^(\d+ passed,? \d+ failed(?:,? \d+ skipped)?)/gm) },
]

export function readTestCounts(output: string): TestCounts | null {
  const plain = output.replace(colours, '').replaceAll('\r\n', '\n')
  let last: Found | null = null
  for (const { read } of countReaders) {
    const found = read(plain)
    if (found !== null && (last === null || found.at > last.at)) last = found
  }
  return last?.counts ?? null
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals' colour codes begin with one
const colours = /\u001b\[[0-9;]*m/g

// Patterns stay within a line and never match one text in two ways: outputs are long and come from strangers.
type Patterns = Record<keyof TestCounts, RegExp>

/** One line a figure; the line of those that passed must be there, and others count only from there on. */
function readLines(output: string, patterns: Patterns): Found | null {
  const passed = lastMatch(output, patterns.passed)
  if (passed === null) return null
  const after = output.slice(passed.index)
  const number = (pattern: RegExp) => [...after.matchAll(pattern)].reduce((sum, line) => sum + Number(line[1]), 0)
  return { at: passed.index, counts: { passed: Number(passed[1]), failed: number(patterns.failed), skipped: number(patterns.skipped) } }
}

function readSummary(output: string, line: RegExp): Found | null {
  const match = lastMatch(output, line)
  if (match === null) return null
  const number = (word: string) =>
    [...(match[1] ?? '').matchAll(new RegExp(`(\\d+) ${word}`, 'g'))].reduce((sum, found) => sum + Number(found[1]), 0)
  const counts = { passed: number('passed'), failed: number('failed') + number('error'), skipped: number('skipped') + number('todo') }
  return { at: match.index, counts }
}

/** `Ran 5 tests in 0.1s`, then `OK (skipped=1)` or `FAILED (failures=1, errors=1, skipped=1)`. */
function readUnittest(output: string): Found | null {
  const match = lastMatch(output, /^Ran (\d+) tests? in [\d.]+s\n+(?:OK|FAILED|NO TESTS RAN)(?: \((.*)\))?$/gm)
  if (match === null) return null
  const number = (word: string) => Number(new RegExp(`\\b${word}=(\\d+)`).exec(match[2] ?? '')?.[1] ?? 0)
  const failed = number('failures') + number('errors')
  const skipped = number('skipped')
  return { at: match.index, counts: { passed: Math.max(0, Number(match[1]) - failed - skipped), failed, skipped } }
}

/** With `-v` each test has a line; without, all that is known is how many packages passed. */
function readGoTest(output: string): Found | null {
  const packages = countLines(output, {
    passed: /^ok[ \t]+\S+[ \t]+(?:[\d.]+s|\(cached\))/gm,
    failed: /^FAIL[ \t]+\S+[ \t]+(?:[\d.]+s|\[)/gm,
    skipped: /^\?[ \t]+\S+[ \t]+\[no test files\]/gm,
  })
  if (packages === null || !/^(?:=== RUN|[ \t]*--- PASS: )/m.test(output)) return packages
  const tests = countLines(output, { passed: /^[ \t]*--- PASS: /gm, failed: /^[ \t]*--- FAIL: /gm, skipped: /^[ \t]*--- SKIP: /gm })
  return tests && { at: packages.at, counts: tests.counts }
}

/** `100% tests passed, 0 tests failed out of 3` */
function readCtest(output: string): Found | null {
  const match = lastMatch(output, /^\d+% tests passed, (\d+) tests? failed out of (\d+)/gm)
  if (match === null) return null
  const failed = Number(match[1])
  return { at: match.index, counts: { passed: Number(match[2]) - failed, failed, skipped: 0 } }
}

function countLines(output: string, patterns: Patterns): Found | null {
  const all = Object.values(patterns).flatMap(pattern => [...output.matchAll(pattern)].map(match => match.index))
  if (all.length === 0) return null
  const count = (pattern: RegExp) => [...output.matchAll(pattern)].length
  const counts = { passed: count(patterns.passed), failed: count(patterns.failed), skipped: count(patterns.skipped) }
  return { at: all.reduce((one, other) => Math.max(one, other)), counts }
}

function lastMatch(output: string, pattern: RegExp): RegExpExecArray | null {
  return [...output.matchAll(pattern)].at(-1) ?? null
}
