import { domainLimits } from './limits.ts'

export type TestCounts = { passed: number; failed: number; skipped: number }

/** Takes an output in pieces of any size, and keeps of it no more than a line. */
export type TestCounter = { read(piece: string): void; counts(): TestCounts | null }

/**
 * How many tests ran, read from the closing lines of known runners. What a test itself prints comes before them, so the
 * last summary counts, whoever's it looks like. Null means "not known", never "none": a check whose counts are not known
 * can prove by its exit code, but can not show that no test went away.
 */
export function readTestCounts(output: string): TestCounts | null {
  const counter = openTestCounter()
  counter.read(output)
  return counter.counts()
}

/** For an output that is too long to be read at once: a piece takes time in proportion to itself, whatever came before. */
export function openTestCounter(): TestCounter {
  const readers = runners.map(open => open())
  const rows = rowsByBeginning(readers)
  let unfinished = ''
  let at = 0
  let before = 0
  const take = (line: string) => {
    at += 1
    const plain = plainLine(line)
    if (plain === '') return
    for (const { pattern, take } of rows.get(plain.charAt(0)) ?? []) {
      const match = pattern.exec(plain)
      if (match !== null) take(match, { at, before })
    }
    before = at
  }
  return {
    read(piece) {
      for (let from = 0; from < piece.length; from += sliceCharacters) {
        const [first = '', ...others] = piece.slice(from, from + sliceCharacters).split(/[\r\n]/)
        unfinished = joinLine(unfinished, first)
        for (const next of others) {
          take(unfinished)
          unfinished = next
        }
      }
    },
    counts() {
      take(unfinished)
      unfinished = ''
      const found = readers.flatMap(reader => reader.found() ?? [])
      return found.reduce<Found | null>((last, other) => (last === null || other.at > last.at ? other : last), null)?.counts ?? null
    },
  }
}

const sliceCharacters = 65_536

/** No more of a long line than is looked at. */
function joinLine(unfinished: string, more: string): string {
  const room = domainLimits.countedLineCharactersMax + 1 - unfinished.length
  return room > 0 ? unfinished + more.slice(0, room) : unfinished
}

/** Without colours. The mark of one that was cut keeps it from ending where a summary would. */
function plainLine(line: string): string {
  const { countedLineCharactersMax: max } = domainLimits
  const cut = line.length > max ? `${line.slice(0, max)}…` : line
  return cut.includes('\u001b') ? cut.replace(colours, '') : cut
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals' colour codes begin with one
const colours = /\u001b\[[0-9;]*m/g

/** The line's number, and that of the last one before it that is not empty. */
type Line = { at: number; before: number }
/** `begins`: every character a line that matches can begin with, so that most lines meet no pattern at all. */
type Row = { begins: string; pattern: RegExp; take(match: RegExpExecArray, line: Line): void }
/** The last line that says anything about counts, and what the lines say. */
type Found = { at: number; counts: TestCounts }
type Reader = { rows: readonly Row[]; found(): Found | null }

function rowsByBeginning(readers: readonly Reader[]): Map<string, Row[]> {
  const rows = new Map<string, Row[]>()
  for (const row of readers.flatMap(reader => reader.rows)) {
    for (const begin of row.begins) rows.set(begin, [...(rows.get(begin) ?? []), row])
  }
  return rows
}

// Patterns never match one text in two ways, and no number has more digits than can be added up: outputs come from strangers.
type Patterns = Record<keyof TestCounts, RegExp>
const digits = '0123456789'

/** Of those that end in the same line, the first counts. */
const runners: readonly (() => Reader)[] = [
  // node:test, tape
  () =>
    figures('#ℹ', {
      passed: /^(?:# |ℹ )pass +(\d{1,9})$/,
      failed: /^(?:# |ℹ )(?:fail|cancelled) +(\d{1,9})$/,
      skipped: /^(?:# |ℹ )(?:skipped|todo) +(\d{1,9})$/,
    }),
  // vitest, jest
  () => summary(' \tT', /^[ \t]*Tests:?[ \t]+(\d+ (?:passed|failed|skipped|todo)\b.*)$/),
  // mocha
  () =>
    figures(' ', {
      passed: /^ {2}(\d{1,9}) passing\b/,
      failed: /^ {2}(\d{1,9}) failing\b/,
      skipped: /^ {2}(\d{1,9}) pending\b/,
    }),
  // pytest
  () =>
    summary(
      `=n${digits}`,
      /^(?:=+ )?((?:\d+ (?:passed|failed|skipped|errors?|xfailed|xpassed|deselected|warnings?)(?:, )?)+|no tests ran) in [\d.]+s/,
    ),
  unittest,
  goTest,
  ctest,
  tap,
  // any that says it plainly
  () => summary(digits, /^(\d+ passed,? \d+ failed(?:,? \d+ skipped)?)/),
]

/** One line a figure; the line of those that passed must be there, and others count only from there on. */
function figures(begins: string, { passed, failed, skipped }: Patterns): Reader {
  let found: Found | null = null
  const add = (name: 'failed' | 'skipped', pattern: RegExp): Row => ({
    begins,
    pattern,
    take: match => {
      if (found !== null) found.counts[name] += Number(match[1])
    },
  })
  const begin: Row = {
    begins,
    pattern: passed,
    take: (match, { at }) => {
      found = { at, counts: { passed: Number(match[1]), failed: 0, skipped: 0 } }
    },
  }
  return { rows: [begin, add('failed', failed), add('skipped', skipped)], found: () => found }
}

/** All figures in one line. */
function summary(begins: string, pattern: RegExp): Reader {
  let last: { at: number; words: string } | null = null
  const take: Row['take'] = (match, { at }) => {
    last = { at, words: match[1] ?? '' }
  }
  return { rows: [{ begins, pattern, take }], found: () => last && { at: last.at, counts: countsIn(last.words) } }
}

function countsIn(words: string): TestCounts {
  const counts = { passed: 0, failed: 0, skipped: 0 }
  for (const [, number, word] of words.matchAll(/(?<!\d)(\d{1,9}) (passed|failed|error|skipped|todo)/g)) {
    counts[word === 'passed' ? 'passed' : word === 'failed' || word === 'error' ? 'failed' : 'skipped'] += Number(number)
  }
  return counts
}

/** `Ran 5 tests in 0.1s`, then `OK (skipped=1)` or `FAILED (failures=1, errors=1, skipped=1)`. */
function unittest(): Reader {
  let ran: { at: number; tests: number } | null = null
  let found: Found | null = null
  const begin: Row['take'] = (match, { at }) => {
    ran = { at, tests: Number(match[1]) }
  }
  const end: Row['take'] = (match, { before }) => {
    if (ran === null || ran.at !== before) return
    const number = (word: string) => Number(new RegExp(`\\b${word}=(\\d{1,9})`).exec(match[1] ?? '')?.[1] ?? 0)
    const failed = number('failures') + number('errors')
    const skipped = number('skipped')
    found = { at: ran.at, counts: { passed: Math.max(0, ran.tests - failed - skipped), failed, skipped } }
  }
  return {
    rows: [
      { begins: 'R', pattern: /^Ran (\d{1,9}) tests? in [\d.]+s$/, take: begin },
      { begins: 'OFN', pattern: /^(?:OK|FAILED|NO TESTS RAN)(?: \((.*)\))?$/, take: end },
    ],
    found: () => found,
  }
}

/** With `-v` each test has a line; without, all that is known is how many packages passed. */
function goTest(): Reader {
  const packages = lineCount('oF?', {
    passed: /^ok[ \t]+\S+[ \t]+(?:[\d.]+s|\(cached\))/,
    failed: /^FAIL[ \t]+\S+[ \t]+(?:[\d.]+s|\[)/,
    skipped: /^\?[ \t]+\S+[ \t]+\[no test files\]/,
  })
  const tests = lineCount(' \t-', {
    passed: /^[ \t]*--- PASS: /,
    failed: /^[ \t]*--- FAIL: /,
    skipped: /^[ \t]*--- SKIP: /,
  })
  const named = seen(' \t-=', /^(?:=== RUN|[ \t]*--- PASS: )/)
  return {
    rows: [...packages.rows, ...tests.rows, named.row],
    found: () => {
      const [all, each] = [packages.found(), tests.found()]
      if (all === null || !named.isSeen()) return all
      return each && { at: all.at, counts: each.counts }
    },
  }
}

/** `100% tests passed, 0 tests failed out of 3` */
function ctest(): Reader {
  let found: Found | null = null
  const take: Row['take'] = (match, { at }) => {
    const failed = Number(match[1])
    found = { at, counts: { passed: Math.max(0, Number(match[2]) - failed), failed, skipped: 0 } }
  }
  return {
    rows: [{ begins: digits, pattern: /^\d+% tests passed, (\d{1,9}) tests? failed out of (\d{1,9})/, take }],
    found: () => found,
  }
}

function tap(): Reader {
  const version = seen('T', /^TAP version/)
  const tests = lineCount('oOnN', { passed: /^ok \d+\b(?!.*# skip)/i, failed: /^not ok \d+/i, skipped: /^ok \d+\b.*# skip/i })
  return { rows: [version.row, ...tests.rows], found: () => (version.isSeen() ? tests.found() : null) }
}

/** One line a test or a package. */
function lineCount(begins: string, patterns: Patterns): Reader {
  let found: Found | null = null
  const rowOf = (name: keyof TestCounts): Row => ({
    begins,
    pattern: patterns[name],
    take: (_, { at }) => {
      found ??= { at, counts: { passed: 0, failed: 0, skipped: 0 } }
      found.at = at
      found.counts[name] += 1
    },
  })
  return { rows: [rowOf('passed'), rowOf('failed'), rowOf('skipped')], found: () => found }
}

function seen(begins: string, pattern: RegExp): { row: Row; isSeen(): boolean } {
  let isSeen = false
  const take = () => {
    isSeen = true
  }
  return { row: { begins, pattern, take }, isSeen: () => isSeen }
}
