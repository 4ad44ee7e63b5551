import { describe, expect, it, onTestFinished } from 'vitest'
import { handOver, type SessionResult } from '../../agent/index.ts'
import type { NewEvent } from '../../domain/index.ts'
import type { FakeModel, ModelRequest, ModelScript } from '../../simulator/index.ts'
import { type FolderSandbox, openFolderSandbox } from './folder-sandbox.ts'
import { runIn } from './harness.ts'
import { useModel } from './shared-model.ts'

let model: FakeModel
useModel(fresh => {
  model = fresh
})

async function folder(files: { [path: string]: string } = {}): Promise<FolderSandbox> {
  const sandbox = await openFolderSandbox(files)
  onTestFinished(() => sandbox.remove())
  return sandbox
}

type Message = { role: string; content: string | null; tool_calls?: { function: { arguments: string } }[] }

function messagesOf(request: ModelRequest | undefined): Message[] {
  if (!request) throw new Error('there was no such request')
  return (request.body as { messages: Message[] }).messages
}

const road: ModelScript = [
  { toolCalls: [{ name: 'read_file', arguments: { target_file: 'a.txt' } }] },
  { toolCalls: [{ name: 'write', arguments: { file_path: 'b.txt', content: 'three\n' } }] },
  { text: 'Looking.', toolCalls: [{ name: 'run_terminal_command', arguments: { command: 'cat b.txt; exit 3', description: 'look' } }] },
  { text: 'Done.' },
]

describe('a session', () => {
  it('reads, writes, runs a command and ends with the answer, each step recorded before the next', async () => {
    const sandbox = await folder({ 'a.txt': 'one\ntwo\n' })
    model.script(road)
    const { result, events } = await runIn({ sandbox, model })
    expect(result).toMatchObject({ kind: 'ended', reason: 'answer', text: 'Done.', turns: 4, tainted: [] })
    expect(await sandbox.text('b.txt')).toBe('three\n')
    const turn = ['model.requested', 'model.answered', 'tool.started', 'tool.settled']
    // The tree is made while the model thinks: it may be recorded on either side of the next answer.
    expect(events.map(event => event.type).filter(type => type !== 'snapshot.taken')).toEqual([
      'session.started',
      ...turn,
      ...turn,
      ...turn,
      'model.requested',
      'model.answered',
      'session.ended',
    ])
    expect(events.flatMap(event => (event.type === 'snapshot.taken' ? [event.payload.turn] : []))).toEqual([3])
    const results = events.flatMap(event => (event.type === 'tool.settled' ? [event.payload.result] : []))
    expect(results[0]).toMatch(/^<data-\w+ source="file a.txt">\n1→one\n2→two\n3→\n<\/data-/)
    expect(results[2]).toMatch(/^exit: 3\n<data-\w+ source="command output">\nthree\n<\/data-/)
    model.assertNoRefusedRequests()
    expect(model.connections()).toBe(1)
  })

  it('keeps a long last answer whole once, and at its end no more of it than people read', async () => {
    const text = `Mend it\n\n${'é'.repeat(100_000)}`
    model.script([{ text }])
    const { result, events } = await runIn({ sandbox: await folder(), model })
    const kept = events.flatMap(({ type, payload }) => (type === 'model.answered' || type === 'session.ended' ? [payload] : []))
    expect(kept.map(payload => 'text' in payload && Buffer.byteLength(payload.text))).toEqual([200_009, 65_538])
    expect(result).toMatchObject({ kind: 'ended', text: expect.stringMatching(/^Mend it\n\né+…$/) })
  })

  it('keeps one connection and the same request prefix, byte for byte, over the whole session', async () => {
    const sandbox = await folder({ 'a.txt': 'one\n' })
    model.script(road)
    await runIn({ sandbox, model })
    const bodies = model.requests.map(request => JSON.stringify(request.body))
    for (const [index, body] of bodies.slice(1).entries()) {
      const before = (bodies[index] as string).slice(0, -']}'.length)
      expect(body.startsWith(before)).toBe(true)
    }
    expect(Object.keys(model.requests[0]?.body as object).at(-1)).toBe('messages')
  })

  it('keeps its connection over a command that takes longer than an answer is drained', async () => {
    const sandbox = await folder()
    const call = { name: 'run_terminal_command', arguments: { command: 'sleep 0.6', description: 'wait' } }
    model.script([{ toolCalls: [call] }, { toolCalls: [call] }, { text: 'ok' }])
    await runIn({ sandbox, model })
    expect(model.connections()).toBe(1)
  })

  it('says a call and its result in the words of a tool-settled event', async () => {
    const sandbox = await folder()
    model.script([
      { toolCalls: [{ name: 'run_terminal_command', arguments: { command: 'echo hi', description: 'say hi' } }] },
      { text: 'ok' },
    ])
    const { events } = await runIn({ sandbox, model })
    const settled = events.find(event => event.type === 'tool.settled')?.payload as Extract<NewEvent, { type: 'tool.settled' }>['payload']
    expect(settled).toEqual({
      turn: 1,
      callId: expect.any(String),
      name: 'run_terminal_command',
      kind: 'execute',
      readOnly: false,
      decision: { kind: 'allow', rule: 'grant:run', reason: expect.any(String) },
      result: expect.stringMatching(/^exit: 0\n<data-\w+ source="command output">\nhi\n<\/data-\w+>$/),
      status: 'ok',
      meta: {
        version: 1,
        name: 'run_terminal_command',
        kind: 'execute',
        namespace: 'grok_build',
        label: 'Run Command',
        read_only: false,
        input: { command: 'echo hi', description: 'say hi' },
      },
      exitCode: 0,
      outputBytes: 3,
      outputHash: '98ea6e4f216f2fb4b69fff9b3a44842c38686ca685f3f55dc48c5d3fb1107be4',
      sandbox: { engine: 'folder', state: 'none', profile: 'off', missing: ['everything'] },
      hosts: [],
      edits: [],
      durationMs: expect.any(Number),
    })
  })

  it('runs nothing whose start was not recorded, and asks nothing whose request was not', async () => {
    const sandbox = await folder({ 'a.txt': 'one\n' })
    model.script(road)
    const seen: { type: string; commands: number; requests: number }[] = []
    const record = async (batch: readonly NewEvent[]) => {
      for (const event of batch) seen.push({ type: event.type, commands: sandbox.commands.length, requests: model.requests.length })
      return 'recorded' as const
    }
    await runIn({ sandbox, model, ports: { record } })
    const requested = seen.filter(row => row.type === 'model.requested').map(row => row.requests)
    expect(requested).toEqual([0, 1, 2, 3])
    const started = seen.filter(row => row.type === 'tool.started').map(row => row.commands)
    expect(started).toEqual([0, 0, 0])
  })

  it('stops without another request, call or event once it is fenced, whichever event that was', async () => {
    model.script(road)
    for (let fencedAt = 1; fencedAt <= 16; fencedAt++) {
      const sandbox = await folder({ 'a.txt': 'one\n' })
      const events: NewEvent[] = []
      const record = async (batch: readonly NewEvent[]) => {
        if (events.length + batch.length >= fencedAt) return 'fenced' as const
        events.push(...batch)
        return 'recorded' as const
      }
      const before = model.requests.length
      const { result } = await runIn({ sandbox, model, ports: { record } })
      expect(result).toEqual({ kind: 'fenced' })
      const requests = events.filter(event => event.type === 'model.requested').length
      expect(model.requests.length - before).toBe(requests)
      const started = events.filter(event => event.type === 'tool.started' && event.payload.kind === 'execute').length
      expect(sandbox.commands.length).toBe(started)
    }
  })

  it('hands over without ending: no last event, and the open request stays open', async () => {
    const sandbox = await folder()
    model.script([{ text: 'never heard', fault: { kind: 'stall' } }])
    const cancel = new AbortController()
    setTimeout(() => cancel.abort(handOver), 100)
    const { result, events } = await runIn({ sandbox, model, ports: { cancel: cancel.signal } })
    expect(result).toEqual({ kind: 'handed-over' } satisfies SessionResult)
    expect(events.map(event => event.type)).toEqual(['session.started', 'model.requested'])
  })

  it('shows the live view what it needs: turns, calls with label, outcome and cost so far', async () => {
    const sandbox = await folder({ 'a.txt': 'one\n' })
    model.script([
      { toolCalls: [{ name: 'read_file', arguments: { target_file: 'a.txt' } }], usage: { promptTokens: 1000, completionTokens: 10 } },
      { text: 'ok' },
    ])
    const price = { input: 3_000_000, cachedInput: 1_000_000, output: 15_000_000 }
    const { progress } = await runIn({
      sandbox,
      model,
      start: { model: { name: 'grok-4', outputTokensMax: 1000, outputTokensField: 'max_completion_tokens', temperature: 0, price } },
    })
    expect(progress.slice(0, 3)).toEqual([
      { kind: 'turn', turn: 1, tokens: 0, costMicroUsd: 0 },
      { kind: 'tool-started', turn: 1, callId: expect.any(String), name: 'read_file', verb: 'read', label: 'a.txt' },
      {
        kind: 'tool-settled',
        turn: 1,
        callId: expect.any(String),
        name: 'read_file',
        verb: 'read',
        label: 'a.txt',
        status: 'ok',
        exitCode: null,
        detail: '12 bytes',
        result: expect.stringContaining('1→one'),
        durationMs: expect.any(Number),
        tokens: 1010,
        costMicroUsd: 3150,
      },
    ])
    expect(progress.at(-1)).toMatchObject({ kind: 'ended', reason: 'answer', turns: 2 })
  })

  it('goes on when the view it reports to throws', async () => {
    const sandbox = await folder()
    model.script([{ text: 'ok' }])
    const progress = () => {
      throw new Error('the view is broken')
    }
    expect((await runIn({ sandbox, model, ports: { progress } })).result).toMatchObject({ reason: 'answer' })
  })

  it('gives every call of an answer exactly one result, whatever the model sent', async () => {
    const sandbox = await folder({ 'a.txt': 'one\n' })
    model.script([
      {
        toolCalls: [
          { name: 'read_file', arguments: { target_file: 'a.txt' } },
          { name: 'no_such_tool', arguments: {} },
          { name: 'read_file', arguments: '' },
          { name: 'read_file', arguments: '{"target_file": "a.t' },
          { name: 'read_file', arguments: '{"x":1}{"target_file":"a.txt"}' },
          { name: 'read_file', arguments: '[]' },
        ],
      },
      { text: 'ok' },
    ])
    const { events } = await runIn({ sandbox, model })
    model.assertNoRefusedRequests()
    const settled = events.flatMap(event => (event.type === 'tool.settled' ? [event.payload] : []))
    const byId = new Map(settled.map(row => [row.callId, row]))
    const answer = events.find(event => event.type === 'model.answered')?.payload as { toolCalls: { id: string }[] }
    const rows = answer.toolCalls.map(call => byId.get(call.id)).map(row => [row?.status, row?.decision.rule, row?.result.split('\n')[0]])
    expect(settled).toHaveLength(6)
    expect(rows).toEqual([
      ['ok', 'read-only', expect.stringMatching(/^<data-/)],
      ['error', 'unknown-tool', expect.stringMatching(/^Tool not found: no_such_tool\. The tools are: read_file, search_replace, /)],
      ['error', 'schema', expect.stringMatching(/^Invalid arguments for read_file: target_file: /)],
      [
        'error',
        'schema',
        expect.stringMatching(/^Invalid arguments for read_file: the arguments are not valid JSON: .*position|Unterminated/),
      ],
      ['ok', 'read-only', expect.stringMatching(/^\[The arguments held 2 JSON objects in a row/)],
      ['error', 'schema', expect.stringMatching(/must be a JSON object, got an array/)],
    ])
    const sent = messagesOf(model.requests[1])
    const calls = sent.find(message => message.role === 'assistant')?.tool_calls ?? []
    expect(calls.map(call => call.function.arguments)).toEqual([
      '{"target_file":"a.txt"}',
      '{}',
      '{}',
      '{"raw":"{\\"target_file\\": \\"a.t"}',
      '{"target_file":"a.txt"}',
      '{"raw":"[]"}',
    ])
  })

  it('gives repeated call ids of a server names of their own', async () => {
    const sandbox = await folder({ 'a.txt': 'one\n' })
    const call = { id: 'call_0', name: 'read_file', arguments: { target_file: 'a.txt' } }
    model.script([{ toolCalls: [call, { ...call }] }, { toolCalls: [{ ...call }] }, { text: 'ok' }])
    const { events } = await runIn({ sandbox, model })
    model.assertNoRefusedRequests()
    expect(events.flatMap(event => (event.type === 'tool.settled' ? [event.payload.callId] : [])).sort()).toEqual([
      'call_0',
      'call_0-2',
      'call_0-3',
    ])
  })

  it('lets a turn limit of N make N requests, runs the calls of the last and never shows their results', async () => {
    const sandbox = await folder()
    model.script(
      Array.from({ length: 9 }, (_, n) => ({
        text: `step ${n}`,
        toolCalls: [{ name: 'run_terminal_command', arguments: { command: `echo ${n}` } }],
      })),
    )
    const { result } = await runIn({
      sandbox,
      model,
      start: { limits: { turnsMax: 3, wallMs: 60_000, tokensMax: 1_000_000, costMicroUsdMax: null } },
    })
    expect(result).toMatchObject({ reason: 'turns', turns: 3, text: 'step 2' })
    expect(model.requests).toHaveLength(3)
    expect(sandbox.commands).toEqual(['echo 0', 'echo 1', 'echo 2'])
  })

  it('refuses calls beyond the limit of one answer, each with a result', async () => {
    const sandbox = await folder({ 'a.txt': 'one\n' })
    model.script([
      { toolCalls: Array.from({ length: 5 }, () => ({ name: 'read_file', arguments: { target_file: 'a.txt' } })) },
      { text: 'ok' },
    ])
    const { events } = await runIn({ sandbox, model, start: { tuning: { callsPerTurnMax: 3 } } })
    const rules = events.flatMap(event => (event.type === 'tool.settled' ? [event.payload.decision.rule] : []))
    expect(rules.sort()).toEqual(['calls-per-turn', 'calls-per-turn', 'read-only', 'read-only', 'read-only'])
  })
})
