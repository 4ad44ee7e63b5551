import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runFix } from './run-fix.ts'

/** The four languages that are set up and checked without a word in `.github/grok.yml`. */
const samples = path.join(import.meta.dirname, 'samples')
const counts = (passed: number, failed: number) => ({ passed, failed, skipped: 0 })
const rows = [
  { sample: 'npm', check: 'npm test', exit: 1, before: counts(2, 1), after: counts(3, 0), file: 'slug.js' },
  { sample: 'pytest', check: 'python3 -m pytest -q', exit: 1, before: counts(3, 1), after: counts(4, 0), file: 'intervals.py' },
  { sample: 'go', check: 'go test -v ./...', exit: 1, before: counts(2, 2), after: counts(4, 0), file: 'wrap.go' },
  { sample: 'make', check: 'make test', exit: 2, before: counts(3, 2), after: counts(5, 0), file: 'roman.c' },
]

test.each(rows)('$sample: a failing test is mended, proven in four cells, and the patch applies', { timeout: 120_000 }, async row => {
  const folder = path.join(samples, row.sample)
  const result = await runFix({
    from: path.join(folder, 'repository'),
    issue: path.join(folder, 'issue.md'),
    script: path.join(folder, 'script.json'),
  })
  onTestFinished(result.dispose)
  const check = { name: row.check, source: 'detected', killedBy: null, durationMs: expect.any(Number) }
  const before = { state: 'failed', checks: [{ ...check, passed: false, exitCode: row.exit, counts: row.before }] }
  const after = { state: 'passed', checks: [{ ...check, passed: true, exitCode: 0, counts: row.after }] }
  const { exitCode, outcome, verdict, evidence, sandbox, files, applied } = result
  expect({ exitCode, outcome, verdict, evidence, sandbox: sandbox.state, files: files.map(file => file.path) }).toEqual({
    exitCode: 0,
    outcome: 'succeeded',
    verdict: 'proven',
    evidence: { baseCodeBaseTests: before, newCodeBaseTests: after, baseCodeNewTests: before, newCodeNewTests: after },
    sandbox: 'enforced',
    files: [row.file],
  })
  expect(applied?.names).toContain(row.file)
})
