import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openRepetitionGuard } from '../../agent/repetition.ts'
import { openFamily } from '../../agent/tools/families.ts'
import { openPrompts } from '../../prompts/index.ts'
import { type ModelRequest, type Simulator, startSimulator } from '../../simulator/index.ts'
import { openFolderSandbox } from './folder-sandbox.ts'
import { runIn } from './harness.ts'

const tools = openFamily('grok_build', openPrompts())
type Call = [name: string, args: unknown]

/** In which round of the same calls the guard spoke, and what it said. */
function rounds(calls: (round: number) => Call[]): { [round: number]: string } {
  const guard = openRepetitionGuard(tools)
  const said: { [round: number]: string } = {}
  for (let round = 1; round <= 14; round++) {
    const verdict = guard.observe(
      calls(round).map(([name, args], index) => ({
        id: `${index}`,
        name,
        arguments: typeof args === 'string' ? args : JSON.stringify(args),
      })),
    )
    if (verdict !== 'go-on') said[round] = verdict
    if (verdict === 'stop') break
  }
  return said
}

const read: Call = ['read_file', { target_file: 'a' }]
const run: Call = ['run_terminal_command', { command: 'npm test', description: 'x' }]

describe('the repetition guard', () => {
  const table: [title: string, calls: (round: number) => Call[], said: object][] = [
    ['reading the same: told at 4, ended at 8', () => [read], { 4: 'nudge', 8: 'stop' }],
    ['planning the same', () => [['todo_write', { todos: [] }]], { 4: 'nudge', 8: 'stop' }],
    ['acting the same: told at 8, ended at 12', () => [run], { 8: 'nudge', 12: 'stop' }],
    ['reading and acting together counts as acting', () => [read, run], { 8: 'nudge', 12: 'stop' }],
    ['a tool that does not exist counts as acting', () => [['nonsense', {}]], { 8: 'nudge', 12: 'stop' }],
    [
      'the command true: ended at 4 without a word',
      round => [['run_terminal_command', { command: ' TRUE ', description: `${round}` }]],
      { 4: 'stop' },
    ],
    [
      'the order of keys and calls does not matter',
      round => (round % 2 ? [read, ['grep', { pattern: 'x', path: 'y' }]] : [['grep', { path: 'y', pattern: 'x' }], read]),
      { 8: 'nudge', 12: 'stop' },
    ],
    ['arguments that are no JSON are compared as text', () => [['write', '{"file_path":']], { 8: 'nudge', 12: 'stop' }],
    ['other arguments are another round', round => [['read_file', { target_file: `a${round}` }]], {}],
    [
      'an order within an array matters',
      round => [['todo_write', { todos: round % 2 ? [{ id: '1' }, { id: '2' }] : [{ id: '2' }, { id: '1' }] }]],
      {},
    ],
    ['one other round in between begins anew', round => (round === 4 ? [run] : [read]), { 8: 'nudge', 12: 'stop' }],
  ]
  it.each(table)('%s', (_title, calls, said) => expect(rounds(calls)).toEqual(said))

  let simulator: Simulator
  beforeAll(async () => {
    simulator = await startSimulator()
  })
  afterAll(() => simulator.close())

  it('ends a session that goes round in a circle, after having told it once', async () => {
    const sandbox = await openFolderSandbox({ a: 'x' })
    onTestFinished(() => sandbox.remove())
    simulator.model.script(() => ({ text: 'Again.', toolCalls: [{ name: 'read_file', arguments: { target_file: 'a' } }] }))
    const { result } = await runIn({ sandbox, model: simulator.model })
    expect(result).toMatchObject({ reason: 'repetition', turns: 8, text: 'Again.' })
    const { messages } = (simulator.model.requests.at(-1) as ModelRequest).body as { messages: { role: string; content: string }[] }
    expect(
      messages
        .filter(message => message.role === 'user')
        .map(message => message.content)
        .slice(1),
    ).toEqual([
      '[You have made the same calls several times in a row. Their results will not change. Do something else, or end with your answer.]',
    ])
    simulator.model.assertNoRefusedRequests()
  })
})
