import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { execa } from 'execa'
import { expect, test } from 'vitest'
import { readKeys } from '../../cli/read-keys.ts'
import { verifyBundle } from '../../domain/index.ts'

const main = path.resolve(import.meta.dirname, '../../cli/main.ts')

test('the demo turns a signed comment into a proven pull request and prints one object last', { timeout: 60_000 }, async () => {
  const caller = mkdtempSync(path.join(tmpdir(), 'grokbot-demo-caller-'))
  const run = await execa(process.execPath, [main, 'demo', '--json'], { reject: false, env: { GROKBOT_CALLER_DIR: caller } })
  expect(run.exitCode, run.stderr).toBe(0)
  const result = JSON.parse(run.stdout.trim().split('\n').at(-1) ?? '')
  expect(result).toMatchObject({
    outcome: 'succeeded',
    pullRequest: { number: 2, draft: false, headSha: expect.stringMatching(/^[0-9a-f]{40}$/) },
    checksBefore: [{ name: 'npm test', exitCode: 1, counts: { passed: 1, failed: 1, skipped: 0 } }],
    checksAfter: [{ name: 'npm test', exitCode: 0, counts: { passed: 2, failed: 0, skipped: 0 } }],
    turns: 5,
    receipts: expect.any(Number),
    sandbox: { state: 'enforced' },
    verify: 'ok',
  })
  // The data folder is gone; what the caller keeps is enough to check it again.
  const kept = readdirSync(path.join(caller, '.grok', 'out')).sort()
  const taskId = path.basename(result.bundle, '.json')
  expect(kept).toEqual(['.gitignore', `${taskId}.json`, `${taskId}.patch`, `${taskId}.pem`])
  expect(result.bundle).toBe(path.join(caller, '.grok', 'out', `${taskId}.json`))
  const keys = await readKeys(path.join(caller, '.grok', 'out', `${taskId}.pem`))
  expect(verifyBundle(readFileSync(result.bundle), keys)).toMatchObject({ kind: 'intact', signed: 'trusted' })
  rmSync(caller, { recursive: true })
})
