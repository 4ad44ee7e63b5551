import type { EventType, NewEvent, Payload, TaskAccepted, TaskRefused } from '../../domain/index.ts'
import type { ClaimOptions, NewTask } from '../../ledger/index.ts'

/** One payload of every event type, as a real run would write it. A type without a row does not compile. */
const sha = (digit: string) => digit.repeat(40)
const usage = { inputTokens: 1200, cachedTokens: 800, outputTokens: 90, costMicroUsd: 4_200, reported: true }
const sandbox = { engine: 'bubblewrap', state: 'enforced', profile: 'workspace', missing: [] } as const
const allow = { kind: 'allow', rule: 'grant', reason: 'granted' } as const

export const accepted: TaskAccepted = {
  command: { verb: 'fix', text: 'the off-by-one in “paginate”', index: 0 },
  requester: { login: 'mona', id: 7 },
  repository: {
    id: 42,
    owner: 'octo',
    name: 'pager',
    url: 'https://github.example/octo/pager.git',
    visibility: 'private',
    defaultBranch: 'main',
  },
  installationId: 99,
  subject: { kind: 'issue', number: 12, title: 'Last page is empty', body: 'Steps:\r\n1. ask for page 3 \u2028 \ud83d\ude80' },
  commentId: 1001,
  base: { ref: 'main', sha: sha('a') },
  grant: {
    profile: 'workspace',
    capabilities: ['read', 'write', 'run'],
    effects: ['reaction', 'progress', 'comment', 'push', 'pull-request'],
  },
  limits: { turnsMax: 60, wallMs: 1_200_000, tokensMax: 4_000_000, costMicroUsdMax: null },
  delivery: 'github',
  deadlineAt: 1_800_001_200_000,
}

export const refused: TaskRefused = {
  command: accepted.command,
  requester: accepted.requester,
  repository: accepted.repository,
  installationId: 99,
  subject: accepted.subject,
  commentId: 1002,
  reason: 'role',
  words: '`/grok fix` needs write access here; you have read.',
}

export const payloads: { [T in EventType]: Payload<T> } = {
  'task.accepted': accepted,
  'task.refused': refused,
  'attempt.started': { owner: 'worker-1', recovers: null },
  'cancel.requested': { by: 'github:7', reason: '`/grok cancel`' },
  'workspace.opened': { baseSha: sha('a'), baseTree: sha('b'), files: 31, sandbox: { ...sandbox, missing: [] } },
  'setup.settled': {
    commands: ['npm ci'],
    source: 'detected',
    exitCode: 0,
    output: 'added 3 packages',
    durationMs: 810,
    baselineTree: sha('c'),
    hosts: ['registry.example:443'],
  },
  'taint.raised': { source: 'subject', detail: 'an issue of a stranger' },
  'session.started': {
    model: 'grok-code',
    systemPrompt: 'You mend code.',
    userPrompt: 'Fix it.',
    tools: ['read_file', 'run_terminal_command'],
    promptHash: 'f'.repeat(64),
  },
  'model.requested': { turn: 1, requestHash: 'e'.repeat(64), reservedTokens: 9_000 },
  'model.answered': {
    turn: 1,
    requestHash: 'e'.repeat(64),
    text: 'I will look.',
    toolCalls: [{ id: 'call_0', name: 'read_file', arguments: '{"target_file":"pager.js"}' }],
    finishReason: 'tool_calls',
    usage,
    tries: 1,
    durationMs: 1_900,
  },
  'model.failed': {
    turn: 2,
    kind: 'rate-limited',
    message: '429',
    tries: 6,
    usage: { ...usage, costMicroUsd: null, reported: false },
  },
  'tool.started': { turn: 1, callId: 'call_0', name: 'read_file', kind: 'read', readOnly: true, decision: allow },
  'tool.settled': {
    turn: 1,
    callId: 'call_0',
    name: 'read_file',
    kind: 'read',
    readOnly: true,
    decision: allow,
    result: '1→export const pages = n => n\n',
    status: 'ok',
    meta: { path: 'pager.js', lines: 1, nested: { zero: 0, half: 0.5, none: null } },
    exitCode: null,
    outputBytes: 31,
    outputHash: 'd'.repeat(64),
    sandbox: null,
    hosts: [],
    edits: [],
    durationMs: 2,
  },
  'snapshot.taken': { turn: 1, tree: sha('d'), live: true },
  'session.ended': { reason: 'answer', text: 'Done.', turns: 3 },
  'change.collected': {
    tree: sha('d'),
    files: [{ path: 'p\\xffger.js', status: 'modified', from: null, mode: '100644', added: 1, removed: 1, notes: [] }],
    leftOut: [{ path: 'log.txt', reason: 'made by a command' }],
    refused: [],
  },
  'check.settled': {
    cell: 'newCodeBaseTests',
    name: 'test',
    command: 'npm test',
    source: 'configured',
    tree: sha('d'),
    exitCode: 0,
    killedBy: null,
    counts: { passed: 4, failed: 0, skipped: 0 },
    output: 'ok 4',
    outputBytes: 4,
    outputHash: 'c'.repeat(64),
    sandbox: { ...sandbox, missing: [] },
    cached: false,
    durationMs: 300,
  },
  'change.judged': { verdict: 'proven', reasons: ['4 checks pass that failed before'] },
  'commit.made': { sha: sha('1'), tree: sha('d'), parent: sha('a'), branch: 'grok/fix-12', message: 'Fix the last page' },
  'effect.prepared': {
    effectId: 'effect-1',
    kind: 'pull-request',
    key: 'octo/pager:grok/fix-12',
    intent: { title: 'Fix the last page', draft: false },
  },
  'effect.dispatched': { effectId: 'effect-1', try: 1 },
  'effect.settled': {
    effectId: 'effect-1',
    state: 'confirmed',
    remote: { number: 13, url: 'https://github.example/octo/pager/pull/13' },
    reason: '',
    foundByReadBack: false,
  },
  'task.ended': { outcome: 'succeeded', reason: 'delivered', summary: 'Opened #13.' },
}

export function eventOf<T extends EventType>(type: T, change: Partial<Payload<T>> = {}, commandId = `${type}:1`): NewEvent {
  return { type, commandId, payload: { ...payloads[type], ...change } } as NewEvent
}

/** A task with a name; everything else as of any other. */
export function taskOf(taskId: string, change: Partial<NewTask> = {}): NewTask {
  return {
    taskId,
    meaningKey: `meaning:${taskId}`,
    laneKey: `lane:${taskId}`,
    tenantKey: 'i99',
    priority: 1,
    needsWorker: true,
    actor: 'github:7',
    commandId: `delivery-${taskId}:0`,
    acceptedAt: startedAt,
    first: { type: 'task.accepted', payload: accepted },
    more: [],
    budgets: [],
    ...change,
  }
}

/** A fixed moment: no test of the ledger reads the real clock. */
export const startedAt = 1_800_000_000_000
export const leaseMs = 15_000

export function claimOptions(change: Partial<ClaimOptions> = {}): ClaimOptions {
  const now = change.now ?? startedAt
  return { owner: 'worker-1', now, leaseUntil: now + leaseMs, recoveriesMax: 5, deadOwners: [], ...change }
}
