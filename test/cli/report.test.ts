import { describe, expect, it } from 'vitest'
import { calledAs } from '../../cli/called-as.ts'
import { type ReportFacts, renderReport } from '../../cli/run/report.ts'
import { type RunResult, refusedResult } from '../../cli/run/result.ts'

const facts: ReportFacts = {
  root: '/home/m/repo',
  cwd: '/home/m/repo',
  commands: 2,
  denied: 0,
  endedByLimit: false,
  program: './dev grokbot',
  keysDir: '/data/my keys/public',
  silentModel: null,
  outProblem: null,
  notApplied: null,
}

function report(result: Partial<RunResult>, more: Partial<ReportFacts> = {}): string[] {
  const ended: RunResult = { ...refusedResult('why it was so', 'no-change', 61_000), taskId: 't_1', ...result }
  return renderReport(ended, { ...facts, ...more }).split('\n')
}

describe('the report of a run', () => {
  it('says how the bundle is verified, as it can be pasted where it is read', () => {
    expect(report({ outcome: 'succeeded', bundle: '/home/m/repo/.grok/out/t_1.json', signed: true })).toContain(
      "verify ./dev grokbot verify .grok/out/t_1.json --keys '/data/my keys/public'",
    )
    expect(report({ bundle: '/home/m/repo/.grok/out/t_1.json', signed: false }).join('\n')).not.toContain('verify')
  })
  it('names the address of a model that gave no answer', () => {
    const lines = report({ outcome: 'errored' }, { silentModel: 'http://127.0.0.1:1/v1' })
    expect(lines).toContain('next    check OPENAI_BASE_URL: the model was asked for at http://127.0.0.1:1/v1')
  })
  it('says why with the code of the catalogue', () => {
    expect(report({ outcome: 'failed' })[1]).toBe('why    why it was so [no-change]')
    expect(report({ outcome: 'failed', code: null })[1]).toBe('why    why it was so')
  })
  it('ends a cancelled run with a command', () => {
    expect(report({ outcome: 'cancelled' }).at(-1)).toBe('next      ./dev grokbot replay t_1 shows what was done')
  })
  it('names at most ten files that were left out', () => {
    const leftOut = Array.from({ length: 12 }, (_, index) => ({ path: `${index}.sh\u001b`, reason: 'new file made by a command' }))
    const line = report({ leftOut }).find(text => text.startsWith('left out')) ?? ''
    expect(line).toMatch(/^left out 0\.sh\\u\{1b\} \(new file made by a command\), .*9\.sh.*\), 2 more: --json names all$/)
  })
})

it('what is printed to be pasted begins as the caller began it', () => {
  const root = process.cwd()
  expect(
    [undefined, root, '/elsewhere'].map(caller => calledAs(caller === undefined ? {} : ({ GROKBOT_CALLER_DIR: caller } as never))),
  ).toEqual(['grokbot', './dev grokbot', `${root}/dev grokbot`])
})
