import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cell, cells, type TaskState } from '../../domain/index.ts'
import type { ModelTurn } from '../../simulator/index.ts'
import { renderPullRequest } from '../../worker/render-pull-request.ts'
import { type Files, type Fixer, openFixer } from './open-fixer.ts'

/**
 * Each way a cell of evidence can fail, on the whole second half: real git, real sandboxes, only the model is scripted.
 * The sample's value should be 2; a test that checks it fails, a second one passes.
 */
let fixer: Fixer
beforeAll(async () => {
  fixer = await openFixer()
})
afterAll(() => fixer.close())

const runner = [
  'passed=0; failed=0',
  'for test in tests/*.t; do if sh "$test"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi; done',
  'echo "$passed passed, $failed failed"',
  '[ "$failed" = 0 ]',
  '',
].join('\n')
const sample: Files = {
  value: '1\n',
  Makefile: 'test:\n\t@sh tests/run.sh\n',
  'tests/run.sh': runner,
  'tests/is-two.t': '[ "$(cat value)" = 2 ]\n',
  'tests/is-there.t': '[ -s value ]\n',
}
const write = (file: string, content: string): ModelTurn => ({
  toolCalls: [{ name: 'write', arguments: { file_path: file, content } }],
})
const run = (command: string): ModelTurn => ({
  toolCalls: [{ name: 'run_terminal_command', arguments: { command, description: 'change it' } }],
})
const mend = write('value', '2\n')
const grokYml = (text: string): Files => ({ '.github/grok.yml': `version: 1\n${text}` })

/** Cells in the order base code with base tests, new code with base tests, base code with new tests, new code with new tests. */
type Row = { name: string; files?: Files; without?: string[]; turns: ModelTurn[]; profile?: string; evidence: string[]; reasons: string[] }
const onlyNew = (evidence: string) => ['exit 2, 1 + 1', evidence, 'exit 2, 1 + 1', evidence]

const rows: Row[] = [
  { name: 'nothing fails: the base fails and the new code passes', turns: [mend], evidence: onlyNew('exit 0, 2 + 0'), reasons: [] },
  {
    name: 'the new code fails',
    turns: [write('value', '3\n')],
    evidence: onlyNew('exit 2, 1 + 1'),
    reasons: ['`make test` fails on the new code (1 of 2 fail)'],
  },
  {
    name: 'it passes only with changed tests',
    turns: [write('tests/is-two.t', '[ "$(cat value)" = 1 ]\n')],
    evidence: ['exit 2, 1 + 1', 'exit 2, 1 + 1', 'exit 0, 2 + 0', 'exit 0, 2 + 0'],
    reasons: ["`make test` passes only with changed tests: with the base's it fails (1 of 2 fail)"],
  },
  {
    name: 'the count fell, since the runner leaves a test out',
    turns: [mend, write('tests/run.sh', runner.replace('tests/*.t', 'tests/is-there.t'))],
    evidence: ['exit 2, 1 + 1', 'exit 0, 2 + 0', 'exit 0, 1 + 0', 'exit 0, 1 + 0'],
    reasons: ['`make test` ran 1 tests, 2 on the base'],
  },
  {
    name: 'a test file was deleted',
    turns: [mend, run('rm tests/is-there.t')],
    evidence: ['exit 2, 1 + 1', 'exit 0, 2 + 0', 'exit 2, 0 + 1', 'exit 0, 1 + 0'],
    reasons: ['`make test` ran 1 tests, 2 on the base'],
  },
  {
    name: 'the time of the check was up',
    files: grokYml('limits:\n  checkWallMs: 1000\n'),
    turns: [mend, write('tests/waits.t', 'sleep 60\n')],
    evidence: ['exit 2, 1 + 1', 'exit 0, 2 + 0', 'killed: wall, uncounted', 'killed: wall, uncounted'],
    reasons: ['`make test` fails on the new code (killed: wall)'],
  },
  {
    name: 'setup fails on the base',
    files: grokYml('setup: [exit 3]\n'),
    turns: [mend],
    evidence: onlyNew('exit 0, 2 + 0').map(cell => `${cell}, setup exit 3`),
    reasons: ['setup failed, so the checks ran without it', '`make test` ran on new code whose setup failed'],
  },
  {
    name: 'setup fails on the new code only',
    files: grokYml('setup: [test ! -e extra]\n'),
    turns: [mend, write('extra', '')],
    evidence: ['exit 2, 1 + 1, setup exit 0', 'exit 0, 2 + 0, setup exit 1', 'exit 2, 1 + 1, setup exit 0', 'exit 0, 2 + 0, setup exit 1'],
    reasons: ['`make test` ran on new code whose setup failed'],
  },
  {
    name: 'no check is found',
    without: ['Makefile'],
    turns: [mend],
    evidence: ['–', '–', '–', '–'],
    reasons: ['no check is configured or could be detected'],
  },
  {
    name: 'the config file is broken: nothing of it counts, and nothing is detected in its place',
    files: grokYml('checks: make test\n'),
    turns: [mend],
    profile: 'strict',
    evidence: ['–', '–', '–', '–'],
    reasons: [
      expect.stringMatching(/^the repository's config is broken: \.github\/grok\.yml:2:9: checks .*array/),
      'no check is configured or could be detected',
    ],
  },
  {
    name: 'the test script is replaced by one that always passes',
    without: ['Makefile'],
    files: { 'package.json': '{"scripts":{"test":"sh tests/run.sh"}}\n' },
    turns: [write('package.json', '{"scripts":{"test":"exit 0"}}\n')],
    evidence: ['exit 1, 1 + 1', 'exit 1, 1 + 1', 'exit 0, uncounted', 'exit 0, uncounted'],
    reasons: [
      "`npm test` passes only with changed tests: with the base's it fails (1 of 2 fail)",
      '`npm test` no longer says how many tests ran',
    ],
  },
]

describe('evidence of a change when', () => {
  it.each(rows)('$name', { timeout: 60_000 }, async ({ files = {}, without = [], turns, profile = 'workspace', evidence, reasons }) => {
    const all = Object.fromEntries(Object.entries({ ...sample, ...files }).filter(([name]) => !without.includes(name)))
    const state = await fixer.fix(all, [...turns, { text: 'Make it two' }])
    const proven = reasons.length === 0
    expect({
      outcome: state.outcome?.outcome,
      verdict: state.verdict,
      profile: state.workspace?.sandbox.profile,
      evidence: cells.map(cell => evidenceOf(state, cell)),
    }).toEqual({
      outcome: proven ? 'succeeded' : 'failed',
      verdict: { verdict: proven ? 'proven' : 'unproven', reasons },
      profile,
      evidence,
    })
    const body = renderPullRequest(state, '/grok', 58_000, null)
    const [first = ''] = body.split('\n\n')
    expect(first.startsWith('**Draft: no check proves this.** ')).toBe(!proven)
    if (!proven) expect(first).toContain(state.verdict?.reasons.join('; '))
  })
})

function evidenceOf({ checks }: TaskState, cell: Cell): string {
  const [check] = checks[cell]
  if (!check) return '–'
  const { exitCode, killedBy, counts, setup } = check
  return [
    killedBy ? `killed: ${killedBy}` : `exit ${exitCode}`,
    counts ? `${counts.passed} + ${counts.failed}` : 'uncounted',
    ...(setup ? [`setup exit ${setup.exitCode}`] : []),
  ].join(', ')
}
