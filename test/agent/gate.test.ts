import { describe, expect, it } from 'vitest'
import { type GateContext, judgeCall } from '../../agent/gate/gate.ts'
import { emptyGateTables, type GateTables, type HookVerdict, type KillSwitch, type PreToolHook, sessionLimits } from '../../agent/index.ts'
import { openFamily } from '../../agent/tools/families.ts'
import { toolKinds } from '../../agent/tools/kinds.ts'
import { openPrompts } from '../../prompts/index.ts'

const tools = openFamily('grok_build', openPrompts())
const now = 1_000_000

type Given = {
  call?: { name: string; arguments: unknown }
  capabilities?: ('read' | 'write' | 'run')[]
  tables?: Partial<GateTables>
  hooks?: PreToolHook[]
  killSwitch?: GateContext['killSwitch']
  signal?: AbortSignal
}

const calls = {
  read: { name: 'read_file', arguments: { target_file: 'src/a.ts' } },
  write: { name: 'write', arguments: { file_path: 'src/a.ts', content: 'x' } },
  run: { name: 'run_terminal_command', arguments: { command: 'npm test', description: 'test' } },
  todo: { name: 'todo_write', arguments: { todos: [] } },
}

function judge(given: Given) {
  const call = given.call ?? calls.write
  return judgeCall(
    { name: call.name, arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments) },
    {
      tools,
      grant: { profile: 'workspace', capabilities: given.capabilities ?? ['read', 'write', 'run'], effects: [] },
      tables: { ...emptyGateTables, ...given.tables },
      hooks: given.hooks ?? [],
      killSwitch: given.killSwitch ?? (() => ({ kind: 'clear' })),
      now: () => now,
      limits: { ...sessionLimits, hookMs: 100 },
      signal: given.signal ?? new AbortController().signal,
    },
  )
}

function hook(id: string, verdict: HookVerdict | Error): PreToolHook {
  return {
    id,
    async run() {
      if (verdict instanceof Error) throw verdict
      return verdict
    },
  }
}

const row = { id: 'r1', reason: 'because' }
const unreadable = (clearAt: number | null) => (): KillSwitch => ({ kind: 'unreadable', clearAt })
const throws = () => {
  throw new Error('it broke')
}

/** What is given, and who decides how: kind, rule and (for refusals) what the model gets as a status. */
const table: [title: string, given: Given, kind: 'allow' | 'deny', rule: string, status?: 'denied' | 'error'][] = [
  ['a tool that does not exist', { call: { name: 'rm', arguments: {} } }, 'deny', 'unknown-tool', 'error'],
  ['arguments of another shape', { call: { name: 'write', arguments: { path: 1 } } }, 'deny', 'schema', 'error'],
  ['arguments that are no JSON', { call: { name: 'write', arguments: '{"file_path":' } }, 'deny', 'schema', 'error'],
  ['a pulled kill switch stops a write', { killSwitch: () => ({ kind: 'pulled', reason: 'operator' }) }, 'deny', 'kill-switch', 'denied'],
  [
    'a pulled kill switch stops a read too',
    { call: calls.read, killSwitch: () => ({ kind: 'pulled', reason: 'operator' }) },
    'deny',
    'kill-switch',
    'denied',
  ],
  ['a switch that can not be read stops a write at once', { killSwitch: unreadable(now) }, 'deny', 'kill-switch', 'denied'],
  [
    'a switch that was clear a minute ago lets a read pass',
    { call: calls.read, killSwitch: unreadable(now - 60_000) },
    'allow',
    'read-only',
  ],
  [
    'a switch that was clear longer ago does not',
    { call: calls.read, killSwitch: unreadable(now - 60_001) },
    'deny',
    'kill-switch',
    'denied',
  ],
  ['a switch that was never read does not', { call: calls.read, killSwitch: unreadable(null) }, 'deny', 'kill-switch', 'denied'],
  ['a switch that throws refuses', { call: calls.read, killSwitch: throws }, 'deny', 'kill-switch', 'denied'],
  ['a write without the capability', { capabilities: ['read', 'run'] }, 'deny', 'grant:write', 'denied'],
  ['a command without the capability', { call: calls.run, capabilities: ['read', 'write'] }, 'deny', 'grant:run', 'denied'],
  ['a read without any capability', { call: calls.read, capabilities: [] }, 'deny', 'grant:read', 'denied'],
  ['a todo list needs none', { call: calls.todo, capabilities: [] }, 'allow', 'read-only'],
  ['the plan gate by kind', { tables: { plan: [{ ...row, kinds: ['write', 'edit', 'execute'] }] } }, 'deny', 'plan-gate:r1', 'denied'],
  ['the plan gate leaves other kinds alone', { call: calls.read, tables: { plan: [{ ...row, kinds: ['write'] }] } }, 'allow', 'read-only'],
  ['policy by path, whatever its case', { tables: { policy: [{ ...row, paths: ['SRC/**'] }] } }, 'deny', 'policy:r1', 'denied'],
  [
    'policy on a path that is spelled another way',
    {
      call: { name: 'write', arguments: { file_path: '/workspace/x/../src/./a.ts', content: '' } },
      tables: { policy: [{ ...row, paths: ['src/*'] }] },
    },
    'deny',
    'policy:r1',
    'denied',
  ],
  ['policy by tool', { call: calls.run, tables: { policy: [{ ...row, tools: ['run_terminal_command'] }] } }, 'deny', 'policy:r1', 'denied'],
  ['policy beats an allow rule', { tables: { policy: [row], rules: [{ ...row, verdict: 'allow' }] } }, 'deny', 'policy:r1', 'denied'],
  ['a hook that denies', { hooks: [hook('h1', { kind: 'deny', reason: 'no' })] }, 'deny', 'hook:h1', 'denied'],
  ['a hook that is broken is passed over', { hooks: [hook('h1', { kind: 'failed', reason: 'exit 1' })] }, 'allow', 'grant:write'],
  ['a hook port that throws refuses', { hooks: [hook('h1', new Error('bug'))] }, 'deny', 'hooks', 'denied'],
  [
    'a later hook is still asked after a rewrite',
    { hooks: [hook('h1', { kind: 'rewrite', input: { file_path: 'b', content: 'y' } }), hook('h2', { kind: 'deny', reason: 'no' })] },
    'deny',
    'hook:h2',
    'denied',
  ],
  [
    'what a hook wrote is judged by policy again',
    {
      hooks: [hook('h1', { kind: 'rewrite', input: { file_path: 'secret/b', content: 'y' } })],
      tables: { policy: [{ ...row, paths: ['secret/**'] }] },
    },
    'deny',
    'policy:r1',
    'denied',
  ],
  [
    'and by the plan gate',
    {
      hooks: [hook('h1', { kind: 'rewrite', input: { file_path: 'secret/b', content: 'y' } })],
      tables: { plan: [{ ...row, paths: ['secret/**'] }] },
    },
    'deny',
    'plan-gate:r1',
    'denied',
  ],
  ['and by the schema', { hooks: [hook('h1', { kind: 'rewrite', input: { nonsense: 1 } })] }, 'deny', 'hook:h1', 'denied'],
  [
    'a hook can not rewrite its way past a policy on the first input',
    {
      hooks: [hook('h1', { kind: 'rewrite', input: { file_path: 'b', content: 'y' } })],
      tables: { policy: [{ ...row, paths: ['src/**'] }] },
    },
    'deny',
    'policy:r1',
    'denied',
  ],
  [
    'deny beats ask and allow, whatever their order',
    {
      tables: {
        rules: [
          { id: 'a', reason: '', verdict: 'allow' },
          { id: 'b', reason: '', verdict: 'ask' },
          { id: 'c', reason: '', verdict: 'deny' },
        ],
      },
    },
    'deny',
    'rule:c',
    'denied',
  ],
  [
    'ask beats allow',
    {
      tables: {
        rules: [
          { id: 'a', reason: '', verdict: 'allow' },
          { id: 'b', reason: '', verdict: 'ask' },
        ],
      },
    },
    'deny',
    'rule:b',
    'denied',
  ],
  ['an allow rule', { tables: { rules: [{ id: 'a', reason: '', verdict: 'allow' }], unruled: 'ask' } }, 'allow', 'rule:a'],
  [
    'a rule for another path does not count',
    { tables: { rules: [{ id: 'a', reason: '', verdict: 'deny', paths: ['docs/**'] }] } },
    'allow',
    'grant:write',
  ],
  [
    'a rule with a path never speaks of a command',
    { call: calls.run, tables: { rules: [{ id: 'a', reason: '', verdict: 'allow', paths: ['**'] }], unruled: 'ask' } },
    'deny',
    'ask:nobody',
    'denied',
  ],
  [
    'a deny rule beats the read-only fast path',
    { call: calls.read, tables: { rules: [{ id: 'a', reason: '', verdict: 'deny' }] } },
    'deny',
    'rule:a',
    'denied',
  ],
  ['reading needs no rule', { call: calls.read, tables: { unruled: 'ask' } }, 'allow', 'read-only'],
  ['nobody to ask is a refusal', { tables: { unruled: 'ask' } }, 'deny', 'ask:nobody', 'denied'],
  ['what the grant covers and no rule speaks of', { call: calls.run }, 'allow', 'grant:run'],
]

describe('the gate', () => {
  it.each(table)('%s', async (_title, given, kind, rule, status) => {
    const outcome = await judge(given)
    expect({
      decision: [outcome.decision.kind, outcome.decision.rule],
      status: outcome.kind === 'refused' ? outcome.status : undefined,
    }).toEqual({
      decision: [kind, rule],
      status,
    })
  })

  it('tells the model the rule and what to do when nobody can be asked', async () => {
    const asked = await judge({ tables: { unruled: 'ask' } })
    expect(asked.kind === 'refused' && asked.text).toBe(
      'Tool write was not executed: it needs an approval (no rule allows write) and nobody can be asked in this run. Go on without it, or say in your answer what is needed.',
    )
    const denied = await judge({ tables: { policy: [row] } })
    expect(denied.kind === 'refused' && denied.text).toBe('Tool write was not executed: because (rule policy:r1).')
  })

  it('passes over a hook that does not come back, and says so', async () => {
    const outcome = await judge({ hooks: [{ id: 'slow', run: () => new Promise(() => {}) }] })
    expect(outcome).toMatchObject({ kind: 'allowed', notes: ['hook slow failed and was passed over: no answer within 100 ms'] })
  })

  it('runs what a hook rewrote', async () => {
    const outcome = await judge({ hooks: [hook('h1', { kind: 'rewrite', input: { file_path: 'b', content: 'y' } })] })
    expect(outcome.kind === 'allowed' && outcome.call.input).toEqual({ path: 'b', content: 'y' })
  })
})

describe('tool kinds', () => {
  it('are a closed list whose permissions do not drift', () => {
    const readers = Object.entries(toolKinds).flatMap(([kind, kindRow]) => (kindRow.readOnly ? [kind] : []))
    expect(Object.keys(toolKinds)).toHaveLength(34)
    expect(readers.sort()).toEqual(
      [
        'read',
        'list_dir',
        'search',
        'lsp',
        'web_search',
        'web_fetch',
        'list',
        'enter_plan',
        'exit_plan',
        'ask_user',
        'memory_search',
        'memory_get',
      ].sort(),
    )
    expect(toolKinds.other).toEqual({ label: 'Tool', readOnly: false, needs: ['read', 'write', 'run'] })
    expect(toolKinds.task.readOnly).toBe(false)
  })
})
