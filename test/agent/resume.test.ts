import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { NewEvent, RecordedEvent } from '../../domain/index.ts'
import { type FakeModel, type ModelScript, type Simulator, startSimulator } from '../../simulator/index.ts'
import { type FolderSandbox, openFolderSandbox } from './folder-sandbox.ts'
import { asRecorded, type Ran, runIn } from './harness.ts'

let simulator: Simulator
let model: FakeModel
/** Counter files outside the work tree: one line for each time a command really ran. */
let counters: string
beforeAll(async () => {
  simulator = await startSimulator()
  model = simulator.model
})
afterAll(() => simulator.close())
beforeEach(async () => {
  model.clearFaults()
  model.requests.length = 0
  counters = await mkdtemp(join(tmpdir(), 'grokbot-count-'))
  onTestFinished(() => rm(counters, { recursive: true, force: true }))
})

const files = { 'a.txt': 'one\ntwo\n' }

function road(): ModelScript {
  const count = (name: string) => `echo ran >> ${counters}/${name}`
  return [
    { toolCalls: [{ name: 'write', arguments: { file_path: 'b.txt', content: 'first\n' } }] },
    {
      toolCalls: [
        { name: 'search_replace', arguments: { file_path: 'b.txt', old_string: 'first', new_string: 'second' } },
        { name: 'todo_write', arguments: { todos: [{ id: '1', content: 'look', status: 'in_progress' }] } },
      ],
    },
    { toolCalls: [{ name: 'run_terminal_command', arguments: { command: `${count('third')}; echo made > c.txt`, description: 'make' } }] },
    {
      text: 'Both at once.',
      toolCalls: [
        { name: 'read_file', arguments: { target_file: 'b.txt' } },
        { name: 'run_terminal_command', arguments: { command: `${count('fourth')}; echo more >> c.txt`, description: 'add' } },
      ],
    },
    {
      toolCalls: [
        { name: 'search_replace', arguments: { file_path: 'a.txt', old_string: 'two', new_string: 'TWO' } },
        { name: 'nonsense', arguments: {} },
      ],
    },
    { toolCalls: [{ name: 'todo_write', arguments: { todos: [{ id: '1', status: 'completed' }] } }] },
    { text: 'Done.' },
  ]
}

async function open(trees?: string): Promise<FolderSandbox> {
  const sandbox = await openFolderSandbox(files, trees)
  onTestFinished(() => sandbox.remove())
  return sandbox
}

async function counts(): Promise<{ [name: string]: number }> {
  const names = await readdir(counters)
  const lines = await Promise.all(names.map(async name => (await readFile(join(counters, name), 'utf8')).split('\n').length - 1))
  return Object.fromEntries(names.map((name, index) => [name, lines[index] as number]))
}

async function runAgain(recorded: readonly RecordedEvent[], trees: string): Promise<Ran & { sandbox: FolderSandbox; requests: number }> {
  const sandbox = await open(trees)
  const before = model.requests.length
  const ran = await runIn({ sandbox, model, start: { recorded } })
  return { ...ran, sandbox, requests: model.requests.length - before }
}

function typesOf(events: readonly { type: string }[]): string[] {
  return events.map(event => event.type)
}

describe('a session that was killed', () => {
  it('goes on from every prefix of its record: nothing answered is asked again, nothing settled is run again', async () => {
    model.script(road())
    const first = await open()
    const whole = await runIn({ sandbox: first, model })
    expect(await counts()).toEqual({ third: 1, fourth: 1 })
    const seen = new Set<string>()
    for (let cut = 1; cut < whole.events.length; cut++) {
      const prefix = whole.events.slice(0, cut)
      seen.add((prefix.at(-1) as NewEvent).type)
      for (const name of await readdir(counters)) await rm(join(counters, name))
      const again = await runAgain(asRecorded(prefix), first.trees)
      expect(again.result, `cut ${cut}`).toMatchObject({ kind: 'ended', reason: 'answer', text: 'Done.', turns: 7 })
      const answered = prefix.filter(event => event.type === 'model.answered').length
      expect(again.requests, `requests after ${cut}`).toBe(7 - answered)
      const begun = (turn: number) =>
        prefix.some(event => event.type === 'tool.started' && event.payload.turn === turn && event.payload.kind === 'execute')
      expect(await counts(), `commands after ${cut}`).toEqual({ ...(begun(3) ? {} : { third: 1 }), ...(begun(4) ? {} : { fourth: 1 }) })
      expectEachCallOnce([...prefix, ...again.events])
      await expectTree(again.sandbox, prefix)
    }
    expect([...seen].sort()).toEqual([
      'model.answered',
      'model.requested',
      'session.started',
      'snapshot.taken',
      'tool.settled',
      'tool.started',
    ])
    model.assertNoRefusedRequests()
  })

  /**
   * Recorded file edits are always there and a call that was cut off never is; what a command made is there if it ran in
   * this attempt or its tree was recorded.
   */
  async function expectTree(sandbox: FolderSandbox, prefix: readonly NewEvent[]): Promise<void> {
    const has = (type: 'tool.started' | 'tool.settled', turn: number, kinds: readonly string[]) =>
      prefix.some(event => event.type === type && event.payload.turn === turn && kinds.includes(event.payload.kind))
    const edits = ['edit', 'write']
    const cutOff = (turn: number) => has('tool.started', turn, edits) && !has('tool.settled', turn, edits)
    const kept = (turn: number) =>
      !has('tool.started', turn, ['execute']) || prefix.some(event => event.type === 'snapshot.taken' && event.payload.turn >= turn)
    const text = (path: string) => sandbox.text(path).catch(() => 'missing')
    expect({ a: await text('a.txt'), b: await text('b.txt'), c: await text('c.txt') }).toEqual({
      a: cutOff(5) ? 'one\ntwo\n' : 'one\nTWO\n',
      b: cutOff(1) ? 'missing' : cutOff(2) ? 'first\n' : 'second\n',
      c: `${kept(3) ? 'made\n' : ''}${kept(4) ? 'more\n' : ''}` || 'missing',
    })
  }

  function expectEachCallOnce(events: readonly NewEvent[]): void {
    const settled = events.flatMap(event => (event.type === 'tool.settled' ? [event.payload.callId] : []))
    expect(new Set(settled).size).toBe(settled.length)
    expect(settled).toHaveLength(9)
  }

  it('goes on from chains of kills: no call settles twice, no command runs twice, whatever attempt it was in', async () => {
    model.script(road())
    const first = await open()
    const whole = await runIn({ sandbox: first, model })
    for (let cut = 2; cut < whole.events.length; cut += 7) {
      for (let later = 1; later < 12; later += 5) {
        for (const name of await readdir(counters)) await rm(join(counters, name))
        const one = asRecorded(whole.events.slice(0, cut), 1)
        const second = await runAgain(one, first.trees)
        const two = asRecorded(second.events.slice(0, later), 2)
        const ran = await counts()
        const recorded = [...one, ...two].map((event, index) => ({ ...event, seq: index + 1 }))
        const third = await runAgain(recorded, first.trees)
        expect(third.result, `cut ${cut}, then ${later}`).toMatchObject({ kind: 'ended', reason: 'answer', turns: 7 })
        expectEachCallOnce([...whole.events.slice(0, cut), ...second.events.slice(0, later), ...third.events])
        const begun = (turn: number) =>
          recorded.some(event => event.type === 'tool.started' && event.payload?.turn === turn && event.payload.kind === 'execute')
        const after = await counts()
        const more = (name: string) => (after[name] ?? 0) - (ran[name] ?? 0)
        expect({ third: more('third'), fourth: more('fourth') }).toEqual({ third: begun(3) ? 0 : 1, fourth: begun(4) ? 0 : 1 })
      }
    }
    model.assertNoRefusedRequests()
  }, 60_000)

  it('answers a command that was cut off with "interrupted", naming the snapshot, and makes a read again', async () => {
    model.script(road())
    const first = await open()
    const { events } = await runIn({ sandbox: first, model })
    const cut = events.findIndex(event => event.type === 'tool.started' && event.payload.turn === 4)
    const last = events.findIndex((event, index) => index > cut && event.type !== 'tool.started')
    const again = await runAgain(asRecorded(events.slice(0, last)), first.trees)
    const fourth = again.events.flatMap(event => (event.type === 'tool.settled' && event.payload.turn === 4 ? [event.payload] : []))
    expect(fourth.map(row => [row.name, row.status, row.decision.rule])).toEqual([
      ['run_terminal_command', 'interrupted', 'grant:run'],
      ['read_file', 'ok', 'read-only'],
    ])
    expect(fourth[0]?.result).toMatch(/^Interrupted: .* restored to snapshot 1, /)
  })

  it('tells the model what an interruption lost, in the same bytes in every later attempt', async () => {
    model.script(road())
    const first = await open()
    const { events } = await runIn({
      sandbox: first,
      model,
      ports: { snapshot: async () => ({ kind: 'refused', reason: 'no trees today' }) },
    })
    const cut = events.findIndex(event => event.type === 'model.requested' && event.payload.turn === 4)
    const prefix = asRecorded(events.slice(0, cut), 1)
    const second = await runAgain(prefix, first.trees)
    const sent = model.requests.at(-4)?.body as { messages: { role: string; content: string }[] }
    const note = sent.messages.filter(message => message.role === 'user').at(-1)?.content
    expect(note).toMatch(
      /^\[The run was interrupted here .*restored to snapshot 0 .*\n- run_terminal_command: echo ran >> .*; echo made > c\.txt\n/s,
    )
    const combined = [...prefix, ...asRecorded(second.events, 2)].map((event, index) => ({ ...event, seq: index + 1 }))
    const asked = second.events.findIndex(event => event.type === 'model.requested' && event.payload.turn === 4)
    const third = await runAgain(combined.slice(0, prefix.length + asked + 1), first.trees)
    const hash = (ran: readonly NewEvent[]) =>
      ran.flatMap(event => (event.type === 'model.requested' && event.payload.turn === 4 ? [event.payload.requestHash] : []))
    expect(hash(third.events)).toEqual(hash(second.events))
  })

  it('charges a request that was lost in a crash its whole reservation, once for each', async () => {
    model.script([{ text: 'Done.', usage: { promptTokens: 100, completionTokens: 10 } }])
    const sandbox = await open()
    const { events } = await runIn({ sandbox, model })
    const lost = events.slice(0, 2)
    const reserved = lost[1]?.type === 'model.requested' ? lost[1].payload.reservedTokens : 0
    const once = await runAgain(asRecorded(lost), sandbox.trees)
    expect(once.result).toMatchObject({ reason: 'answer', usage: { reported: false } })
    const used = once.result.kind === 'ended' ? once.result.usage : null
    expect((used?.inputTokens ?? 0) + (used?.outputTokens ?? 0)).toBe(reserved + 110)
    const twice = await runAgain(asRecorded([...lost, ...once.events.slice(0, 1)]), sandbox.trees)
    const again = twice.result.kind === 'ended' ? twice.result.usage : null
    expect((again?.inputTokens ?? 0) + (again?.outputTokens ?? 0)).toBe(2 * reserved + 110)
    expect(once.events.map(event => event.commandId)).toEqual(['turn:1:request:2', 'turn:1:answer', 'session:end'])
  })

  it('returns the recorded end without asking, running or recording anything', async () => {
    model.script(road())
    const first = await open()
    const { events, result } = await runIn({ sandbox: first, model })
    const again = await runAgain(asRecorded(events), first.trees)
    expect(again.events).toEqual([])
    expect(again.requests).toBe(0)
    expect(again.result).toEqual(result)
    await expectTree(again.sandbox, events)
  })

  it('ends by a recorded model failure instead of asking again', async () => {
    model.script([{ fault: { kind: 'status', status: 401 } }])
    const sandbox = await open()
    const { events } = await runIn({ sandbox, model })
    expect(typesOf(events)).toEqual(['session.started', 'model.requested', 'model.failed', 'session.ended'])
    const again = await runAgain(asRecorded(events.slice(0, 3)), sandbox.trees)
    expect(again.requests).toBe(0)
    expect(again.result).toMatchObject({
      kind: 'ended',
      reason: 'model-error',
      text: expect.stringMatching(/^the endpoint does not accept the key /),
    })
  })

  it('counts an edit that gives other bytes when made again as lost, with those after it, and says so in every later attempt', async () => {
    const edit = (path: string, from: string, to: string) => ({
      toolCalls: [{ name: 'search_replace', arguments: { file_path: path, old_string: from, new_string: to } }],
    })
    model.script([
      { toolCalls: [{ name: 'run_terminal_command', arguments: { command: 'printf "one\\r\\ntwo\\r\\n" > f.txt', description: 'x' } }] },
      edit('a.txt', 'one', 'ONE'),
      edit('f.txt', 'two', 'TWO'),
      edit('a.txt', 'two', 'TWO'),
      { text: 'Done.' },
    ])
    const first = await open()
    const { events } = await runIn({ sandbox: first, model })
    const prefix = asRecorded(
      events.slice(
        0,
        events.findIndex(event => event.type === 'model.requested' && event.payload.turn === 5),
      ),
    )
    // What `text=auto` does to a tree: the line ends a command wrote do not come back.
    const goOn = async (recorded: readonly RecordedEvent[]) => {
      const sandbox = await open(first.trees)
      const restore = async (tree: string | null) => {
        await sandbox.restore(tree)
        await sandbox.put('f.txt', (await sandbox.text('f.txt')).replaceAll('\r\n', '\n'))
      }
      const ran = await runIn({ sandbox, model, start: { recorded }, ports: { restore } })
      return { ...ran, files: { a: await sandbox.text('a.txt'), f: await sandbox.text('f.txt') } }
    }
    const lost = events.flatMap(event =>
      event.type === 'tool.settled' && event.payload.turn >= 3 && event.payload.edits.length > 0 ? [event.payload.callId] : [],
    )
    const second = await goOn(prefix)
    expect(second.result).toMatchObject({ kind: 'ended', reason: 'answer', text: 'Done.', turns: 5 })
    expect(second.files).toEqual({ a: 'ONE\ntwo\n', f: 'one\ntwo\n' })
    expect(second.progress.find(update => update.kind === 'resumed')).toEqual({ kind: 'resumed', turn: 4, restoredTo: 1, lost: 2 })
    expect(second.events.map(event => [event.type, event.type === 'snapshot.taken' ? event.payload.lost : null])).toEqual([
      ['snapshot.taken', lost],
      ['model.requested', null],
      ['model.answered', null],
      ['session.ended', null],
    ])
    const sent = model.requests.at(-1)?.body as { messages: { role: string; content: string }[] }
    expect(sent.messages.at(-1)?.content).toMatch(
      /these edits were interrupted and are lost.*\n- search_replace: f\.txt\n- search_replace: a\.txt\n/s,
    )
    const both = [...prefix, ...asRecorded(second.events.slice(0, 2), 2)].map((event, index) => ({ ...event, seq: index + 1 }))
    const third = await goOn(both)
    expect(third.files).toEqual(second.files)
    expect(third.events.map(event => event.type)).toEqual(['model.requested', 'model.answered', 'session.ended'])
    const told = model.requests.at(-1)?.body as typeof sent
    // Only the number differs: this one really was restored to the tree without the edits.
    expect(told.messages.at(-1)?.content).toBe(sent.messages.at(-1)?.content.replace('snapshot 1', 'snapshot 2'))
  })

  it('does not take a broken file service for a file that differs', async () => {
    model.script(road())
    const first = await open()
    const { events } = await runIn({ sandbox: first, model })
    const cut = events.findIndex(event => event.type === 'model.requested' && event.payload.turn === 3)
    const sandbox = await open(first.trees)
    const broken = async () => ({ kind: 'fault' as const, code: 'broken' as const, message: 'gone' })
    const host = { ...sandbox, files: { ...(sandbox.files as NonNullable<typeof sandbox.files>), read: broken, write: broken } }
    await expect(runIn({ sandbox: host, model, start: { recorded: asRecorded(events.slice(0, cut)) } })).rejects.toThrow(
      /a recorded edit can not be made again: gone/,
    )
  })

  it('tries again after a batch of edits when the tree before was refused', async () => {
    model.script(road())
    const sandbox = await open()
    let asked = 0
    const snapshot = async () => (++asked < 3 ? { kind: 'refused' as const, reason: 'a file is too large' } : sandbox.snapshot())
    const { events, progress } = await runIn({ sandbox, model, ports: { snapshot } })
    expect(events.flatMap(event => (event.type === 'snapshot.taken' ? [event.payload.turn] : []))).toEqual([5])
    expect(progress.flatMap(update => (update.kind === 'snapshot' ? [`${update.turn} ${update.outcome}`] : []))).toEqual([
      '3 refused',
      '4 refused',
      '5 taken',
    ])
  })

  it('does not begin a batch that can write before the tree of the last one is fixed', async () => {
    model.script(road())
    const sandbox = await open()
    const order: string[] = []
    const snapshot = async () => {
      order.push('tree begun')
      await new Promise(resolve => setTimeout(resolve, 300))
      order.push('tree made')
      return sandbox.snapshot()
    }
    const record = async (batch: readonly NewEvent[]) => {
      for (const event of batch) if (event.type === 'tool.started' && !event.payload.readOnly) order.push(`start ${event.payload.turn}`)
      return 'recorded' as const
    }
    await runIn({ sandbox, model, ports: { snapshot, record } })
    expect(order).toEqual(['start 1', 'start 2', 'start 3', 'tree begun', 'tree made', 'start 4', 'tree begun', 'tree made', 'start 5'])
  })
})
