import { expect, onTestFinished, test } from 'vitest'
import { openFixer } from './open-fixer.ts'

/** Limits of the operator's file, each seen where it bites. */
const files = { 'value.txt': 'broken\n', '.github/grok.yml': JSON.stringify({ version: 1, checks: ['grep -q fixed value.txt'] }) }
const write = { toolCalls: [{ name: 'write', arguments: { file_path: 'value.txt', content: 'fixed\n' } }] }

async function fixWith(limits: object, command: string) {
  const { fix, close } = await openFixer({ limits })
  onTestFinished(close)
  const run = { toolCalls: [{ name: 'run_terminal_command', arguments: { command, description: 'try' } }] }
  return await fix(files, [run, write, { text: 'Say fixed' }])
}

test('gitWallMs ends a git process of the host that takes longer', { timeout: 60_000 }, async () => {
  const state = await fixWith({ gitWallMs: 1, outageTriesMax: 1 }, 'true')
  expect(state.outcome).toMatchObject({
    outcome: 'errored',
    reason: expect.stringMatching(/^(?:git .* (?:timed|took|killed)|.*could not be fetched|fetching)/),
  })
})

test('commandFileBytesMax ends a command that writes a larger file, and the change is made all the same', { timeout: 60_000 }, async () => {
  const command = 'head -c 200000 /dev/zero > ~/big; echo "exit $?"; stat -c "bytes %s" ~/big'
  const bytesOf = async (limits: object) => {
    const state = await fixWith(limits, command)
    const [call] = state.session?.turns[0]?.calls ?? []
    return [state.outcome?.outcome, /bytes (\d+)/.exec(call?.settled?.result ?? '')?.[1]]
  }
  expect(await bytesOf({ commandFileBytesMax: 102_400 })).toEqual(['succeeded', '102400'])
  expect(await bytesOf({})).toEqual(['succeeded', '200000'])
})

test.each([
  ['one', 'succeeded'],
  ['several', 'errored'],
] as const)('the profile off, set while %s tenant is served: %s', { timeout: 60_000 }, async (tenants, outcome) => {
  const { fix, close } = await openFixer({ sandbox: { profile: 'off' } }, { tenants })
  onTestFinished(close)
  const state = await fix(files, [write, { text: 'Say fixed' }])
  expect(state.outcome?.outcome).toBe(outcome)
  if (tenants === 'several')
    expect([state.outcome?.reason, state.workspace]).toEqual([expect.stringContaining('is for a worker of one tenant'), null])
})
