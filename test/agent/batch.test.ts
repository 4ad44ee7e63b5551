import { describe, expect, it, onTestFinished } from 'vitest'
import type { SessionStart } from '../../agent/index.ts'
import type { FakeModel } from '../../simulator/index.ts'
import { type FolderSandbox, openFolderSandbox } from './folder-sandbox.ts'
import { runIn } from './harness.ts'
import { useModel } from './shared-model.ts'

let model: FakeModel
useModel(fresh => {
  model = fresh
})

type Call = { name: string; arguments: { [name: string]: unknown } }
const run = (command: string): Call => ({ name: 'run_terminal_command', arguments: { command, description: 'x' } })
const write = (file_path: string, content: string): Call => ({ name: 'write', arguments: { file_path, content } })
const edit = (old_string: string, new_string: string): Call => ({
  name: 'search_replace',
  arguments: { file_path: 'a.txt', old_string, new_string },
})
const read = (target_file: string): Call => ({ name: 'read_file', arguments: { target_file } })

/** Plays one answer with these calls; results in the model's order as the model got them, and when each began and ended. */
async function batch(
  calls: Call[],
  start: Partial<SessionStart> = {},
): Promise<{ results: string[]; sandbox: FolderSandbox; spans: { [id: string]: { from: number; to: number } }; rules: string[] }> {
  const sandbox = await openFolderSandbox({ 'a.txt': 'one two three\n' })
  onTestFinished(() => sandbox.remove())
  model.script([{ toolCalls: calls.map((call, index) => ({ ...call, id: `c${index}` })) }, { text: 'ok' }])
  const spans: { [id: string]: { from: number; to: number } } = {}
  const rules: string[] = []
  const { events } = await runIn({
    sandbox,
    model,
    start,
    ports: {
      progress(update) {
        if (update.kind === 'tool-started') spans[update.callId] = { from: performance.now(), to: 0 }
        if (update.kind === 'tool-settled') spans[update.callId] = { from: spans[update.callId]?.from ?? 0, to: performance.now() }
      },
    },
  })
  for (const event of events) if (event.type === 'tool.settled') rules.push(event.payload.decision.rule)
  const { messages } = (model.requests[1] as { body: unknown }).body as {
    messages: { role: string; content: string; tool_call_id?: string }[]
  }
  const tools = messages.filter(message => message.role === 'tool')
  expect(tools.map(message => message.tool_call_id)).toEqual(calls.map((_call, index) => `c${index}`))
  return { results: tools.map(message => message.content), sandbox, spans, rules }
}

describe('the calls of one answer', () => {
  it('run beside each other when they are commands', async () => {
    const { spans } = await batch([run('sleep 0.6'), run('sleep 0.6')])
    expect(spans.c1?.from).toBeLessThan(spans.c0?.to as number)
  })

  it('a command sees the edits made before it in the answer, and a read what a command before it made', async () => {
    const { results } = await batch([edit('one', 'ONE'), run('cat a.txt; sleep 0.3; echo made > b.txt'), read('b.txt')])
    expect(results[1]).toContain('ONE two three')
    expect(results[2]).toContain('1→made')
  })

  it('an edit after a command waits for it', async () => {
    const { sandbox } = await batch([run('sleep 0.3; cat a.txt > copy.txt'), edit('one', 'ONE')])
    expect(await sandbox.text('copy.txt')).toBe('one two three\n')
    expect(await sandbox.text('a.txt')).toBe('ONE two three\n')
  })

  it('edits of one file build on each other, under whatever name it is given', async () => {
    const { sandbox } = await batch([
      edit('one', '1'),
      { name: 'search_replace', arguments: { file_path: '/workspace/x/../a.txt', old_string: 'two', new_string: '2' } },
      edit('three', '3'),
      read('./a.txt'),
      write('a.txt', 'new\n'),
    ])
    expect(await sandbox.text('a.txt')).toBe('new\n')
  })

  it('a search after an edit finds it', async () => {
    const { results } = await batch([edit('one', 'needle'), { name: 'grep', arguments: { pattern: 'needle' } }])
    expect(results[1]).toContain('Found 1 matching lines')
  })

  it('one that is refused or fails stops no other', async () => {
    const { results, rules } = await batch([write('secret/x', ''), read('nowhere'), read('a.txt')], {
      gate: { policy: [{ id: 'secrets', reason: 'secrets stay', paths: ['secret/**'] }] },
    })
    expect(results[0]).toBe('Tool write was not executed: secrets stay (rule policy:secrets).')
    expect(results[1]).toMatch(/there is no such file/)
    expect(results[2]).toContain('1→one two three')
    expect(rules.sort()).toEqual(['policy:secrets', 'read-only', 'read-only'])
  })
})

describe('the end of a session', () => {
  const ends: [title: string, turn: { text?: string; finishReason?: 'content_filter' | 'stop' }, reason: string, text: string][] = [
    ['a filter that left nothing is a refusal', { finishReason: 'content_filter' }, 'refused', 'The model refused the request.'],
    ['a filter that left words is an answer', { text: 'Partly.', finishReason: 'content_filter' }, 'answer', 'Partly.'],
    ['words are an answer', { text: 'Done.' }, 'answer', 'Done.'],
  ]
  it.each(ends)('%s', async (_title, turn, reason, text) => {
    const sandbox = await openFolderSandbox()
    onTestFinished(() => sandbox.remove())
    model.script([turn])
    expect((await runIn({ sandbox, model })).result).toMatchObject({ reason, text })
  })
})
