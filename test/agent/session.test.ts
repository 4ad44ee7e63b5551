import { afterEach, describe, expect, it } from 'vitest'
import { type FolderSandbox, openFolderSandbox } from './folder-sandbox.ts'
import { type ModelServer, startModel, type Turn } from './model-server.ts'
import { runIn } from './run.ts'

let sandbox: FolderSandbox | null = null
let model: ModelServer | null = null
afterEach(async () => {
  await sandbox?.remove()
  await model?.close()
})

describe('a session', () => {
  it('reads, writes, runs a command and ends with the answer, every step recorded before the next', async () => {
    sandbox = await openFolderSandbox({ 'a.txt': 'one\ntwo\n' })
    const turns: Turn[] = [
      { toolCalls: [{ name: 'read_file', arguments: { target_file: 'a.txt' } }] },
      { toolCalls: [{ name: 'write', arguments: { file_path: 'b.txt', content: 'three\n' } }] },
      { toolCalls: [{ name: 'run_terminal_command', arguments: { command: 'cat b.txt; exit 3', description: 'look' } }] },
      { text: 'Done.' },
    ]
    model = await startModel(turns)
    const { result, events } = await runIn({ sandbox, model })
    expect(result).toMatchObject({ kind: 'ended', reason: 'answer', text: 'Done.', turns: 4 })
    expect(await sandbox.text('b.txt')).toBe('three\n')
    expect(events.map(event => event.type)).toEqual([
      'session.started',
      'model.requested',
      'model.answered',
      'tool.started',
      'tool.settled',
      'model.requested',
      'model.answered',
      'tool.started',
      'tool.settled',
      'model.requested',
      'model.answered',
      'tool.started',
      'tool.settled',
      'snapshot.taken',
      'model.requested',
      'model.answered',
      'session.ended',
    ])
    const results = events.flatMap(event => (event.type === 'tool.settled' ? [event.payload.result] : []))
    expect(results[0]).toMatch(/1→one\n2→two\n3→\n<\/data-/)
    expect(results[2]).toMatch(/^exit: 3\n<data-\w+ source="command output">\nthree\n<\/data-/)
    expect(model.connections()).toBe(1)
  })
})
