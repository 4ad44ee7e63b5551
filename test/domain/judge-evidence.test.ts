import { describe, expect, it } from 'vitest'
import { type Cell, type CellResult, cells, judgeEvidence } from '../../domain/index.ts'

type Cells = Partial<Record<Cell, CellResult>>
const counted = (passed: number, failed = 0, skipped = 0) => ({ passed, failed, skipped })
const ran = (change: Partial<CellResult> = {}): CellResult => ({ exitCode: 0, killedBy: null, counts: counted(10), ...change })
const fails = (failed = 1) => ran({ exitCode: 1, counts: counted(10 - failed, failed) })

/** A fix as it should be: one test fails on the base, all pass on the new code, whoever's the tests are. */
const good: Required<Cells> = { baseCodeBaseTests: fails(), newCodeBaseTests: ran(), baseCodeNewTests: fails(), newCodeNewTests: ran() }
const judge = (change: Cells, setupFailed = false) => judgeEvidence([{ name: 'npm test', cells: { ...good, ...change } }], { setupFailed })
const without = (cell: Cell) => {
  const { [cell]: _, ...rest } = good
  return judgeEvidence([{ name: 'npm test', cells: rest }], { setupFailed: false })
}

describe('a change is proven when', () => {
  it.each<[string, Cells]>([
    ['a failing test passes', {}],
    ['everything passed before and still does', { baseCodeBaseTests: ran(), baseCodeNewTests: ran() }],
    ['tests were added', { newCodeNewTests: ran({ counts: counted(12) }) }],
    ['more tests are skipped, and as many run', { newCodeNewTests: ran({ counts: counted(10, 0, 4) }) }],
    ['nothing is counted, before or after', Object.fromEntries(cells.map(cell => [cell, ran({ counts: null })]))],
    ['the base could not be counted', { baseCodeBaseTests: ran({ exitCode: 2, counts: null }) }],
    ['the base hung, as the issue said', { baseCodeBaseTests: ran({ exitCode: null, killedBy: 'time', counts: null }) }],
    ['the new tests fail on the old code in any way', { baseCodeNewTests: ran({ exitCode: null, killedBy: 'memory', counts: null }) }],
  ])('%s', (_, change) => {
    expect(judge(change)).toEqual({ verdict: 'proven', reasons: [] })
  })
  it('every one of several checks proves it', () => {
    const checks = [
      { name: 'npm test', cells: good },
      { name: 'npm run lint', cells: Object.fromEntries(cells.map(cell => [cell, ran({ counts: null })])) },
    ]
    expect(judgeEvidence(checks, { setupFailed: false })).toEqual({ verdict: 'proven', reasons: [] })
  })
  it('and the cell of the new tests on the old code is not needed for it', () => {
    expect(without('baseCodeNewTests')).toEqual({ verdict: 'proven', reasons: [] })
  })
})

describe('a change is not proven when', () => {
  it.each<[string, Cells, string]>([
    ['the new code fails', { newCodeNewTests: fails(2) }, '`npm test` fails on the new code (2 of 10 fail)'],
    ['the new code fails uncounted', { newCodeNewTests: ran({ exitCode: 7, counts: null }) }, '`npm test` fails on the new code (exit 7)'],
    [
      'the check on the new code is killed',
      { newCodeNewTests: ran({ exitCode: null, killedBy: 'time' }) },
      '`npm test` fails on the new code (killed: time)',
    ],
    [
      'it was killed after it had exited well',
      { newCodeNewTests: ran({ killedBy: 'memory' }) },
      '`npm test` fails on the new code (killed: memory)',
    ],
    ['it has no exit code', { newCodeNewTests: ran({ exitCode: null, counts: null }) }, '`npm test` fails on the new code (exit null)'],
    [
      'a failure hides behind exit 0',
      { newCodeNewTests: ran({ counts: counted(9, 1) }) },
      '`npm test` fails on the new code (1 of 10 fail)',
    ],
    [
      "the base's tests fail on the new code",
      { newCodeBaseTests: fails(3) },
      "`npm test` passes only with changed tests: with the base's it fails (3 of 10 fail)",
    ],
    [
      "the base's tests hide their failure behind exit 0",
      { newCodeBaseTests: ran({ counts: counted(9, 1) }) },
      "`npm test` passes only with changed tests: with the base's it fails (1 of 10 fail)",
    ],
    [
      "the base's tests are killed on the new code",
      { newCodeBaseTests: ran({ exitCode: null, killedBy: 'output' }) },
      "`npm test` passes only with changed tests: with the base's it fails (killed: output)",
    ],
    [
      'setup failed on the new code, and it passes all the same',
      { newCodeNewTests: ran({ setupFailed: true }) },
      '`npm test` ran on new code whose setup failed',
    ],
    [
      "setup failed beside the base's tests",
      { newCodeBaseTests: ran({ setupFailed: true }) },
      '`npm test` ran on new code whose setup failed',
    ],
    ['a test was removed', { newCodeNewTests: ran({ counts: counted(9) }) }, '`npm test` ran 9 tests, 10 on the base'],
    ['a test is skipped that ran before', { newCodeNewTests: ran({ counts: counted(9, 0, 1) }) }, '`npm test` ran 9 tests, 10 on the base'],
    [
      'the failing test was removed',
      { newCodeNewTests: ran({ counts: counted(9) }), newCodeBaseTests: ran({ counts: counted(9) }) },
      '`npm test` ran 9 tests, 10 on the base',
    ],
    [
      "the new code keeps the base's tests from running, and new ones make up for it",
      { newCodeBaseTests: ran({ counts: counted(4) }), newCodeNewTests: ran({ counts: counted(11) }) },
      "`npm test` ran 4 of the base's tests, 10 on the base",
    ],
    ['the counts are gone', { newCodeNewTests: ran({ counts: null }) }, '`npm test` no longer says how many tests ran'],
    [
      "the counts of the base's tests are gone",
      { newCodeBaseTests: ran({ counts: null }) },
      "`npm test` no longer says how many of the base's tests ran",
    ],
    [
      'no test ran at all',
      {
        baseCodeBaseTests: ran({ counts: counted(0) }),
        newCodeBaseTests: ran({ counts: counted(0) }),
        newCodeNewTests: ran({ counts: counted(0) }),
      },
      '`npm test` passes, but ran no test',
    ],
    [
      'every test is skipped',
      {
        baseCodeBaseTests: ran({ counts: counted(0, 0, 3) }),
        newCodeBaseTests: ran({ counts: counted(0, 0, 3) }),
        newCodeNewTests: ran({ counts: counted(0, 0, 3) }),
      },
      '`npm test` passes, but ran no test',
    ],
  ])('%s', (_, change, reason) => {
    expect(judge(change)).toEqual({ verdict: 'unproven', reasons: [reason] })
  })
  it.each<[Cell, string]>([
    ['newCodeNewTests', '`npm test` did not run on the new code'],
    ['newCodeBaseTests', "`npm test` did not run on the new code with the base's tests"],
    ['baseCodeBaseTests', '`npm test` did not run on the base, so nothing can be compared'],
  ])('the cell %s is missing', (cell, reason) => {
    expect(without(cell)).toEqual({ verdict: 'unproven', reasons: [reason] })
  })
  it('there is no check', () => {
    expect(judgeEvidence([], { setupFailed: false })).toEqual({
      verdict: 'unproven',
      reasons: ['no check is configured or could be detected'],
    })
  })
  it('setup failed, whatever the checks say', () => {
    expect(judge({}, true)).toEqual({ verdict: 'unproven', reasons: ['setup failed, so the checks ran without it'] })
  })
  it('one of several checks does not prove it, with a reason for each', () => {
    const checks = [
      { name: 'npm test', cells: good },
      { name: 'npm run lint', cells: { ...good, newCodeNewTests: fails() } },
      { name: 'npm run types', cells: {} },
    ]
    expect(judgeEvidence(checks, { setupFailed: true })).toEqual({
      verdict: 'unproven',
      reasons: [
        'setup failed, so the checks ran without it',
        '`npm run lint` fails on the new code (1 of 10 fail)',
        '`npm run types` did not run on the new code',
      ],
    })
  })
  it('tests fail with the base’s tests and fewer of them run: both are said', () => {
    expect(judge({ newCodeBaseTests: fails(1), newCodeNewTests: ran({ counts: counted(8) }) }).reasons).toEqual([
      "`npm test` passes only with changed tests: with the base's it fails (1 of 10 fail)",
      '`npm test` ran 8 tests, 10 on the base',
    ])
  })
})

describe('no answer of four cells is ever proven unless the new code passed with both sets of tests', () => {
  const results: CellResult[] = [
    ran(),
    fails(),
    ran({ exitCode: null, killedBy: 'time', counts: null }),
    ran({ counts: null }),
    ran({ counts: counted(5) }),
  ]
  const combinations = results.flatMap(one =>
    results.flatMap(two => results.flatMap(three => results.map(four => [one, two, three, four] as const))),
  )
  it(`in all ${combinations.length} combinations`, () => {
    for (const [baseCodeBaseTests, newCodeBaseTests, baseCodeNewTests, newCodeNewTests] of combinations) {
      const { verdict } = judge({ baseCodeBaseTests, newCodeBaseTests, baseCodeNewTests, newCodeNewTests })
      const good = [newCodeBaseTests, newCodeNewTests].every(({ exitCode, killedBy }) => exitCode === 0 && killedBy === null)
      if (!good) expect(verdict).toBe('unproven')
    }
  })
})
