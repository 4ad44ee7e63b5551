import path from 'node:path'
import { execa } from 'execa'
import { expect, test } from 'vitest'

const main = path.resolve(import.meta.dirname, '../../cli/main.ts')

test('the demo turns a signed comment into a proven pull request and prints one object last', { timeout: 60_000 }, async () => {
  const run = await execa(process.execPath, [main, 'demo', '--json'], { reject: false })
  expect(run.exitCode, run.stderr).toBe(0)
  const result = JSON.parse(run.stdout.trim().split('\n').at(-1) ?? '')
  expect(result).toMatchObject({
    outcome: 'succeeded',
    pullRequest: { number: 2, draft: false, headSha: expect.stringMatching(/^[0-9a-f]{40}$/) },
    checksBefore: [{ name: 'npm test', exitCode: 1, counts: { passed: 1, failed: 1, skipped: 0 } }],
    checksAfter: [{ name: 'npm test', exitCode: 0, counts: { passed: 2, failed: 0, skipped: 0 } }],
    turns: 5,
    sandbox: { state: 'enforced' },
  })
})
