import { describe, expect, it } from 'vitest'
import {
  type Bundle,
  type EventType,
  type Payload,
  type Receipt,
  type RecordedEvent,
  receiptColumns,
  receiptRow,
  receiptsOfBundle,
} from '../../domain/index.ts'
import { payloads } from '../ledger/samples.ts'
import { openBundleScene, parsed, taskId } from './bundle-scene.ts'

const hash = 'f'.repeat(64)
const head = { seq: 7, attempt: 2, at: 1_800_000_000_000, hash }

function event<T extends EventType>(type: T, change: Partial<Payload<T>> = {}): RecordedEvent {
  return { ...head, type, version: 1, commandId: 'c', actor: 'worker:1', payload: { ...payloads[type], ...change } } as RecordedEvent
}
/** As they stand in a bundle that holds all of it. */
function receiptsOf(events: readonly RecordedEvent[]): Receipt[] {
  const entries = events.map(({ payload, ...header }) => ({
    header: { ...header, task: taskId, payloadHash: hash },
    payload: payload === null ? { kind: 'erased' } : { kind: 'full', salt: '', text: JSON.stringify(payload) },
  }))
  return receiptsOfBundle({ entries } as unknown as Bundle)
}
const only = (recorded: RecordedEvent): Receipt => {
  const [receipt, ...more] = receiptsOf([recorded])
  if (receipt === undefined || more.length > 0) throw new Error('one event gives one receipt')
  return receipt
}

describe('a receipt of', () => {
  it('a model call has its usage, price and request hash, and none of its words', () => {
    expect(only(event('model.answered'))).toEqual({
      ...head,
      kind: 'model',
      turn: 1,
      requestHash: 'e'.repeat(64),
      finishReason: 'tool_calls',
      usage: { inputTokens: 1200, cachedTokens: 800, outputTokens: 90, costMicroUsd: 4_200, reported: true },
      tries: 1,
      durationMs: 1_900,
    })
  })
  it('a tool call has the decision with its rule, the sandbox, exit, bytes, hash, hosts and edits, and not its output', () => {
    const sandbox = { engine: 'bubblewrap', state: 'partial' as const, profile: 'workspace', missing: ['pids'] }
    const edits = [{ path: 'a.js', contentHash: hash }]
    const change = { meta: { version: 1, input: { command: 'npm test' } }, sandbox, exitCode: 1, hosts: ['r.example:443'], edits }
    expect(only(event('tool.settled', change))).toEqual({
      ...head,
      kind: 'tool',
      turn: 1,
      callId: 'call_0',
      name: 'read_file',
      what: 'npm test',
      status: 'ok',
      decision: { kind: 'allow', rule: 'grant', reason: 'granted' },
      sandbox,
      exitCode: 1,
      outputBytes: 31,
      outputHash: 'd'.repeat(64),
      hosts: ['r.example:443'],
      edits,
      durationMs: 2,
    })
  })
  it('a check has its cell, tree, counts and sandbox', () => {
    expect(only(event('check.settled'))).toEqual({
      ...head,
      kind: 'check',
      cell: 'newCodeBaseTests',
      name: 'test',
      command: 'npm test',
      source: 'configured',
      tree: 'd'.repeat(40),
      exitCode: 0,
      killedBy: null,
      counts: { passed: 4, failed: 0, skipped: 0 },
      sandbox: { engine: 'bubblewrap', state: 'enforced', profile: 'workspace', missing: [] },
      setup: null,
      outputBytes: 4,
      outputHash: 'c'.repeat(64),
      cached: false,
      durationMs: 300,
    })
  })
  it('a check on a checkout that was set up says how that went, and whom it reached', () => {
    const setup = { exitCode: 1, hosts: ['registry.example:443'], durationMs: 900 }
    const receipt = only(event('check.settled', { setup }))
    expect(receipt).toMatchObject({ kind: 'check', setup })
    expect(receiptRow(receipt).at(-1)).toBe('registry.example:443')
  })
  it('an effect has what exists at the other side', () => {
    expect(only(event('effect.settled'))).toEqual({ ...head, kind: 'effect', ...payloads['effect.settled'] })
  })
  it('an erased event says only what it was', () => {
    expect(only({ ...event('tool.settled'), payload: null })).toEqual({ ...head, kind: 'erased', was: 'tool.settled' })
  })
  it.each(['task.accepted', 'model.requested', 'tool.started', 'effect.prepared', 'task.ended'] as const)('%s is none', type => {
    expect(receiptsOf([event(type)])).toEqual([])
  })
})

describe('what a tool call was about', () => {
  it.each([
    ['the command', { input: { command: 'ls', path: 'a' } }, 'ls'],
    ['the pattern', { input: { pattern: 'x+', path: 'a' } }, 'x+'],
    ['the path', { input: { path: 'a' } }, 'a'],
    ['nothing, without metadata', {}, ''],
    ['nothing, when the input is no object', { input: 'ls' }, ''],
    ['nothing, when the input is null', { input: null }, ''],
    ['nothing, when the command is no text', { input: { command: ['ls'] } }, ''],
  ])('is %s', (_, meta, what) => {
    expect(only(event('tool.settled', { meta }))).toMatchObject({ what })
  })
})

it('receipts of a bundle are those of the ledger it was made from', async () => {
  const scene = await openBundleScene()
  try {
    expect(receiptsOfBundle(parsed(await scene.write()))).toEqual(receiptsOf(await scene.ledger.readEvents(taskId)))
  } finally {
    await scene.close()
  }
})

describe('the table of receipts', () => {
  const sandbox = { engine: 'bubblewrap', state: 'enforced' as const, profile: 'workspace', missing: [] }
  it.each([
    [event('model.answered'), ['7', 'model', 'turn 1', '', '', '1200 + 90 tokens', '1.9 s', '', '']],
    [
      event('model.answered', { usage: { ...payloads['model.answered'].usage, reported: false } }),
      ['7', 'model', 'turn 1', '', '', '1200 + 90 tokens (estimated)', '1.9 s', '', ''],
    ],
    [event('tool.settled'), ['7', 'tool', 'read_file', 'allow grant', '', 'ok', '0.0 s', '31', '']],
    [
      event('tool.settled', { meta: { input: { command: 'npm test' } }, exitCode: 1, sandbox, hosts: ['a:1', 'b:2'] }),
      ['7', 'tool', 'read_file npm test', 'allow grant', 'enforced', 'exit 1', '0.0 s', '31', 'a:1 b:2'],
    ],
    [
      event('tool.settled', { decision: { kind: 'deny', rule: 'net-none', reason: '' }, status: 'denied' }),
      ['7', 'tool', 'read_file', 'deny net-none', '', 'denied', '0.0 s', '31', ''],
    ],
    [event('check.settled'), ['7', 'check', 'test newCodeBaseTests', '', 'enforced', 'exit 0, 4 pass, 0 fail', '0.3 s', '4', '']],
    [
      event('check.settled', { counts: null, exitCode: 2, cached: true }),
      ['7', 'check', 'test newCodeBaseTests', '', 'enforced', 'exit 2 (shared)', '0.3 s', '4', ''],
    ],
    [
      event('check.settled', { killedBy: 'time', exitCode: null }),
      ['7', 'check', 'test newCodeBaseTests', '', 'enforced', 'killed: time', '0.3 s', '4', ''],
    ],
    [event('effect.settled', { effectId: 't_1:pull-request:1' }), ['7', 'effect', 'pull-request 1', '', '', 'confirmed', '', '', '']],
    [
      event('effect.settled', { effectId: 't_1:push:1', foundByReadBack: true }),
      ['7', 'effect', 'push 1', '', '', 'confirmed (read back)', '', '', ''],
    ],
    [{ ...event('check.settled'), payload: null } as RecordedEvent, ['7', 'erased', 'check.settled', '', '', 'erased', '', '', '']],
  ])('has one line for each: %#', (recorded, row) => {
    expect(receiptRow(only(recorded))).toEqual(row)
    expect(row).toHaveLength(receiptColumns.length)
  })
})
