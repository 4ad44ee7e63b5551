import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { passable } from '../../sandbox/index.ts'
import { openFixer } from '../journey/open-fixer.ts'

function narrow(): void {
  const before = process.umask(0o077)
  onTestFinished(() => void process.umask(before))
}

test('a host with the narrowest umask works a task to its end, with every user of a sandbox on its way', { timeout: 60_000 }, async () => {
  const { fix, close } = await openFixer()
  onTestFinished(close)
  // The data folder itself is the command's to make, and to test.
  narrow()
  const checks = ['grep -q fixed value.txt']
  const files = { 'value.txt': 'broken\n', '.github/grok.yml': JSON.stringify({ version: 1, setup: ['touch made'], checks }) }
  const state = await fix(files, [
    { toolCalls: [{ name: 'run_terminal_command', arguments: { command: 'echo fixed > value.txt', description: 'fix' } }] },
    { text: 'Fix the value' },
  ])
  expect([state.outcome?.outcome, state.outcome?.reason, state.verdict?.verdict]).toMatchObject(['succeeded', 'the checks pass', 'proven'])
})

test('a folder is made passable with all above it, also one that an earlier run left closed', () => {
  narrow()
  const top = mkdtempSync(path.join(tmpdir(), 'grokbot-umask-'))
  onTestFinished(() => rmSync(top, { recursive: true, force: true }))
  const modeOf = (...names: string[]) => (statSync(path.join(top, ...names)).mode & 0o777).toString(8)
  // Red: what `mkdir` alone makes of the mode.
  mkdirSync(path.join(top, 'closed'), { mode: 0o711 })
  expect(modeOf('closed')).toBe('700')
  passable(path.join(top, 'closed'))
  passable(path.join(top, 'a/b/c'))
  expect([modeOf('closed'), modeOf('a'), modeOf('a/b'), modeOf('a/b/c'), modeOf()]).toEqual(['711', '711', '711', '711', '700'])
})
