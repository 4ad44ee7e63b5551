import { describe, expect, it } from 'vitest'
import { openView } from '../../cli/view/view.ts'
import type { TaskProgress } from '../../worker/index.ts'
import { openTerminal } from './terminal.ts'

type Session = Extract<TaskProgress, { kind: 'session' }>['update']
const session = (update: Session): TaskProgress => ({ kind: 'session', update })
type Settled = Extract<Session, { kind: 'tool-settled' }>

function settled(verb: Settled['verb'], label: string, detail: string, more: Partial<Settled> = {}): TaskProgress {
  return session({
    kind: 'tool-settled',
    turn: 1,
    callId: 'c',
    name: 'tool',
    verb,
    label,
    status: 'ok',
    exitCode: null,
    detail,
    result: 'x'.repeat(4_096),
    durationMs: 3_200,
    tokens: 5_000,
    costMicroUsd: 310_000,
    ...more,
  })
}

function open(columns: number, more: { plain?: boolean; ci?: boolean; detail?: 0 | 1 | 2 } = {}) {
  const terminal = openTerminal(columns)
  let now = 0
  const view = openView({
    stream: terminal.stream,
    detail: more.detail ?? 0,
    startedAt: 0,
    now: () => now,
    head: { lines: ['grok fix  "a title"   t_01'], opened: ({ sandbox }) => `sandbox ${sandbox.state}, no network` },
    plain: more.plain ?? false,
    ci: more.ci ?? false,
    colour: false,
    hints: 'c cancel, d details, Ctrl-C twice kills',
  })
  const at = (seconds: number, update: TaskProgress) => {
    now = seconds * 1000
    view.progress(update)
  }
  return { terminal, view, at }
}

describe('the live view', () => {
  it('keeps what is over in the scrollback and redraws the last two lines only', () => {
    const { terminal, view, at } = open(72)
    at(0, { kind: 'opened', sandbox: { engine: 'bwrap', state: 'enforced', profile: 'workspace', missing: [] }, network: 'none' })
    at(1, session({ kind: 'turn', turn: 1, tokens: 100, costMicroUsd: 100_000 }))
    for (const file of ['a', 'b', 'c', 'd']) at(2, settled('read', file, '4 KB'))
    at(5, session({ kind: 'tool-started', turn: 2, callId: 'r', name: 'run', verb: 'run', label: 'npm test -- parser' }))
    at(8, settled('run', 'npm test -- parser', 'exit 1'))
    at(11, settled('edit', 'src/parser.ts', '+9 -2'))
    at(13, settled('run', 'curl https://example.com', 'rule net-none', { status: 'denied' }))
    at(20, { kind: 'check', name: 'npm test', cell: 'newCodeNewTests', state: 'running', detail: '', durationMs: 0 })
    expect(terminal.lines()).toEqual([
      'grok fix  "a title"   t_01',
      'sandbox enforced, no network',
      '',
      '  0:02  read    4 files                          16 KB',
      '  0:05  run     npm test -- parser               exit 1           3.2 s',
      '  0:11  edit    src/parser.ts                    +9 -2',
      '  0:13  denied  run curl https://example.com     rule net-none',
      '  0:20  check   npm test (change)                running          0.0 s',
      '  turn 1 · $0.31 · 0:20 · c cancel, d details, Ctrl-C twice kills',
    ])
    view.close()
    expect(terminal.rowsRewritten()).toBe(1)
    expect(terminal.lines().at(-1)).toBe('')
    expect(terminal.lines()).toHaveLength(8)
  })
  it('shows tokens where no price is known', () => {
    const { terminal, view, at } = open(80)
    at(1, session({ kind: 'turn', turn: 3, tokens: 42_000, costMicroUsd: null }))
    expect(terminal.lines().at(-1)).toBe('  turn 3 · 42k tokens · 0:01 · c cancel, d details, Ctrl-C twice kills')
    view.close()
  })
  it('cuts what is too long for a line, in columns and not in characters', () => {
    const { terminal, view, at } = open(60)
    at(1, settled('run', '漢字'.repeat(40), 'exit 0'))
    at(2, settled('edit', 'x'.repeat(300), '+1 -1'))
    for (const line of terminal.lines()) expect(line.length).toBeLessThan(60)
    view.close()
  })
  it('shows foreign text without an order to the terminal', () => {
    const { terminal, view, at } = open(72, { detail: 2 })
    const orders = '\u001b]0;owned\u0007\u009b2J\r'
    at(1, settled('run', `echo ${orders}`, `exit ${orders}`, { result: `out ${orders}\nmore ${orders}` }))
    at(2, session({ kind: 'text', turn: 1, text: `words ${orders}` }))
    at(3, { kind: 'check', name: orders, cell: orders, state: 'failed', detail: orders, durationMs: 1 })
    at(4, session({ kind: 'taint', source: orders, detail: orders }))
    at(5, { kind: 'stage', stage: 'setup', detail: orders })
    // The terminal throws for any control but the view's own.
    expect(terminal.lines().join('\n')).toContain('\\u{1b}]0;owned\\u{7}')
    view.close()
  })
  it('shows the last output when details are switched on, and further ones', () => {
    const { terminal, view, at } = open(72)
    at(1, settled('run', 'ls', 'exit 0', { result: 'one\ntwo' }))
    view.toggleDetail()
    at(2, settled('run', 'pwd', 'exit 0', { result: '/workspace' }))
    view.toggleDetail()
    at(3, settled('run', 'id', 'exit 0', { result: 'hidden' }))
    const text = terminal.lines().join('\n')
    expect(text).toMatch(/details on: the output of each command\n {8}one\n {8}two\n[^\n]*pwd[^\n]*\n {8}\/workspace\n {2}details off/)
    expect(text).not.toContain('hidden')
    view.close()
  })
})

describe('without a terminal that can be redrawn', () => {
  const ways: [name: string, columns: number, more: { plain?: boolean; ci?: boolean }][] = [
    ['--plain', 80, { plain: true }],
    ['CI', 80, { ci: true }],
    ['a narrow terminal', 59, {}],
  ]
  it.each(ways)('%s gets one line an event and no control at all', (_, columns, more) => {
    const { terminal, view, at } = open(columns, more)
    for (const file of ['a', 'b']) at(2, settled('read', file, '4 KB'))
    at(3, session({ kind: 'tool-started', turn: 2, callId: 'r', name: 'run', verb: 'run', label: 'npm test' }))
    at(65, settled('run', 'npm test', 'exit 1'))
    view.close()
    expect(terminal.rowsRewritten()).toBe(0)
    expect(terminal.lines()).toEqual([
      'grok fix  "a title"   t_01',
      '  0:02  read     a  4 KB',
      '  0:02  read     b  4 KB',
      '  1:05  run      npm test  exit 1  3.2 s',
      '',
    ])
  })
})
