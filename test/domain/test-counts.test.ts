import { describe, expect, it } from 'vitest'
import { openTestCounter, readTestCounts } from '../../domain/index.ts'

const counts = (passed: number, failed: number, skipped: number) => ({ passed, failed, skipped })
const nodeTap = [
  'TAP version 13',
  'ok 1 - a',
  'not ok 2 - b',
  '1..2',
  '# tests 4',
  '# suites 0',
  '# pass 2',
  '# fail 1',
  '# cancelled 0',
  '# skipped 1',
  '# todo 0',
].join('\n')

describe('the counts of', () => {
  it.each<[string, string, object | null]>([
    ['node:test in TAP', nodeTap, counts(2, 1, 1)],
    ['node:test in its own form', '✔ a (1ms)\nℹ tests 3\nℹ pass 3\nℹ fail 0\nℹ skipped 0\n', counts(3, 0, 0)],
    ['node:test without any test', 'TAP version 13\n1..0\n# tests 0\n# pass 0\n# fail 0\n# skipped 0\n', counts(0, 0, 0)],
    ['tape', 'TAP version 13\nok 1 a\n\n1..1\n# tests 1\n# pass  1\n\n# ok\n', counts(1, 0, 0)],
    ['vitest', ' Test Files  1 failed (4)\n      Tests  1 failed | 80 passed | 2 skipped (83)\n   Start at  19:12:39\n', counts(80, 1, 2)],
    [
      'vitest in colours',
      ' \u001b[2m      Tests \u001b[22m \u001b[1m\u001b[32m3 passed\u001b[39m\u001b[22m\u001b[90m (3)\u001b[39m\n',
      counts(3, 0, 0),
    ],
    ['jest', 'Test Suites: 1 failed, 1 total\nTests:       1 failed, 1 skipped, 2 todo, 4 passed, 8 total\nTime: 1 s\n', counts(4, 1, 3)],
    ['mocha', '  a\n    ✔ b\n\n  3 passing (10ms)\n  2 pending\n  1 failing\n\n  1) a\n', counts(3, 1, 2)],
    ['pytest', '..F\n=== 1 failed, 3 passed, 2 skipped in 0.12s ===\n', counts(3, 1, 2)],
    ['pytest, quiet', '..F\n1 failed, 3 passed in 0.12s\n', counts(3, 1, 0)],
    ['pytest with errors and warnings', '2 passed, 3 warnings, 1 error in 1.02s\n', counts(2, 1, 0)],
    ['pytest without any test', '\nno tests ran in 0.01s\n', counts(0, 0, 0)],
    ['pytest with all tests deselected', '5 deselected in 0.01s\n', counts(0, 0, 0)],
    ['unittest', '...\n-----\nRan 3 tests in 0.001s\n\nOK\n', counts(3, 0, 0)],
    ['unittest that fails', 'Ran 6 tests in 0.001s\n\nFAILED (failures=1, errors=1, skipped=2)\n', counts(2, 2, 2)],
    ['unittest without any test', 'Ran 0 tests in 0.000s\n\nNO TESTS RAN\n', counts(0, 0, 0)],
    ['go, by package', 'ok  \texample.com/a\t0.004s\nok  \texample.com/b\t(cached)\nFAIL\texample.com/c\t0.1s\nFAIL\n', counts(2, 1, 0)],
    ['go that does not build', 'FAIL\texample.com/c [build failed]\nFAIL\n', counts(0, 1, 0)],
    ['go without test files', '?   \texample.com/a\t[no test files]\n', counts(0, 0, 1)],
    [
      'go -v, by test',
      '=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n    --- PASS: TestB/one (0.00s)\n--- FAIL: TestB (0.00s)\n--- SKIP: TestC (0.00s)\nFAIL\texample.com/a\t0.1s\n',
      counts(2, 1, 1),
    ],
    ['ctest', '67% tests passed, 1 tests failed out of 3\n', counts(2, 1, 0)],
    ['TAP', 'TAP version 14\n1..4\nok 1 - a\nnot ok 2 - b\nok 3 # skip no network\nok 4\n', counts(2, 1, 1)],
    ['a plain line', 'building\n12 passed, 1 failed, 2 skipped\n', counts(12, 1, 2)],
    ['lines that end as on Windows', '# pass 3\r\n# fail 0\r\n', counts(3, 0, 0)],
    ['no runner', 'all good\n', null],
    ['TAP without a version', 'ok 1 - a\n', null],
    ['nothing', '', null],
    ['words about tests', 'Tests are important\nI ran 3 tests and they passed\n', null],
  ])('%s', (_, output, found) => {
    expect(readTestCounts(output)).toEqual(found)
  })
})

describe('what a test prints', () => {
  // `console.log('pass 100')` in a file that node:test runs comes out as `# pass 100`.
  it('can not stand in for the summary that comes after it', () => {
    expect(readTestCounts(`# pass 100\n# fail 0\n${nodeTap}`)).toEqual(counts(2, 1, 1))
  })
  it('can not make another runner’s summary count', () => {
    expect(readTestCounts(`99 passed in 0.1s\n      Tests  99 passed (99)\nok  \ta/b\t0.1s\n${nodeTap}`)).toEqual(counts(2, 1, 1))
    expect(readTestCounts(`${nodeTap}\n1 failed, 3 passed in 0.12s\n`)).toEqual(counts(3, 1, 0))
  })
  it('does not lend its failures to a later summary', () => {
    expect(readTestCounts('# pass 1\n# fail 7\n# skipped 2\n# pass 5\n')).toEqual(counts(5, 0, 0))
  })
})

describe('an output made to be slow', () => {
  const size = 400_000
  it.each([
    ['digits', `ok ${'1'.repeat(size)}`],
    ['empty lines', '\n'.repeat(size)],
    ['spaces', `Tests${' '.repeat(size)}`],
    ['spaces before nothing', `${' '.repeat(size)}x`],
    ['ok and spaces', `ok${' '.repeat(size)}`],
    ['equal signs', '='.repeat(size)],
    ['half summaries', '1 passed, '.repeat(size / 10)],
    ['summaries of the wrong kind', `TAP version 13\n${'ok 1 # skip\n'.repeat(size / 12)}`],
    ['runs that never end', 'Ran 1 test in 1s\n'.repeat(size / 17)],
    ['Tests passed, again and again', `Tests ${'passed failed '.repeat(size / 14)}`],
    ['colour codes without an end', '\u001b[1;1;1'.repeat(size / 7)],
  ])('of %s is read in time', (_, output) => {
    const startedAt = performance.now()
    readTestCounts(output)
    expect(performance.now() - startedAt).toBeLessThan(2_000)
  })
})

describe('an output that comes in pieces', () => {
  const long = 'x'.repeat(10_000)
  it.each([
    ['TAP', `TAP version 13\nok 1 - a\nnot ok 2 ${long}\nok 3 # skip\n`, counts(1, 1, 1)],
    ['lines that end as on Windows', '\u001b[2mRan 3 tests\u001b[0m in 0.001s\r\n\r\nFAILED (failures=1)\r\n', counts(2, 1, 0)],
    ['a summary without an end of line', `${long}\n12 passed, 1 failed`, counts(12, 1, 0)],
    ['a summary that is far too long to be one', `# pass 3${' '.repeat(10_000)}\n`, null],
  ])('counts the same, however it is cut: %s', (_, output, found) => {
    const readIn = (size: number) => {
      const counter = openTestCounter()
      for (let from = 0; from < output.length; from += size) counter.read(output.slice(from, from + size))
      return counter.counts()
    }
    expect([1, 2, 3, 7, 4_096, output.length].map(readIn)).toEqual(Array(6).fill(found))
  })
  it('of a million tests takes its time and no room', { timeout: 60_000 }, () => {
    const counter = openTestCounter()
    const piece = 'ok 1\n'.repeat(10_000)
    counter.read('TAP version 13\n')
    const before = process.memoryUsage().heapUsed
    const startedAt = performance.now()
    for (let at = 0; at < 100; at++) counter.read(piece)
    expect([counter.counts(), performance.now() - startedAt < 5_000]).toEqual([counts(1_000_000, 0, 0), true])
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(200 * 1024 ** 2)
  })
})
