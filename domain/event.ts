import * as z from 'zod'
import { outcomes } from './outcome.ts'

/**
 * Everything a task's ledger can say, one row a type. A payload is JSON; a version is raised when a payload's meaning
 * changes, and a pure migrator then lifts old ones (`domain/migrate-event.ts`). Adding a type here without a crash case
 * in `test/crash` fails the tests.
 */

const sha = z.string().regex(/^[0-9a-f]{40}$/)
const effectKind = z.enum(['reaction', 'progress', 'comment', 'reply', 'check-run', 'push', 'pull-request', 'review'])

const Grant = z.object({
  /** The sandbox profile of every command of this task; fixed for the task's life. */
  profile: z.string(),
  capabilities: z.array(z.enum(['read', 'write', 'run'])),
  effects: z.array(effectKind),
})

const Limits = z.object({
  turnsMax: z.int().positive(),
  wallMs: z.int().positive(),
  tokensMax: z.int().positive(),
  costMicroUsdMax: z.int().positive().nullable(),
})

const TaskAccepted = z.object({
  command: z.object({ verb: z.string(), text: z.string(), index: z.int() }),
  requester: z.object({ login: z.string(), id: z.int() }),
  repository: z.object({
    id: z.int(),
    owner: z.string(),
    name: z.string(),
    /** Where it is fetched from and pushed to: an https URL, or a local folder for `grokbot run`. */
    url: z.string(),
    visibility: z.enum(['public', 'private', 'internal']),
    defaultBranch: z.string(),
  }),
  installationId: z.int().nullable(),
  /** The webhook's snapshot of what was asked about; null when only the command's own text counts. */
  subject: z
    .object({
      kind: z.enum(['issue', 'pull']),
      number: z.int(),
      title: z.string(),
      body: z.string(),
      /** Whether its author had write access when the task was accepted; absent = not known, so no. */
      trusted: z.boolean().optional(),
    })
    .nullable(),
  /** The issue comment that asked; null = something else did, see `source`. */
  commentId: z.int().nullable(),
  /** What asked. Absent in old records, whose `commentId` says it, and in local runs. */
  source: z
    .object({
      kind: z.enum(['comment', 'issue', 'pull', 'review', 'review-comment', 'button']),
      id: z.int(),
      /** The review comment at the head of the thread it stands in: answers go there. */
      threadId: z.int().optional(),
    })
    .optional(),
  /**
   * The pull request it works on, as it was when the task was accepted: work starts from its head, while configuration
   * and instructions still come from `base`. Absent: an issue.
   */
  pull: z
    .object({
      headSha: sha,
      headRef: z.string(),
      baseRef: z.string(),
      baseSha: sha,
      /** The head lies in another repository, or in one that is gone: it is never pushed to. */
      fork: z.boolean(),
    })
    .optional(),
  /** The task whose command this one gives again. */
  retries: z.string().optional(),
  /** When the comment was written, by GitHub's clock: whatever the task makes there is younger. Absent in old records. */
  askedAt: z.string().optional(),
  base: z.object({ ref: z.string(), sha }),
  grant: Grant,
  limits: Limits,
  /** Where the result goes: GitHub, or a patch file (`grokbot run`). */
  delivery: z.enum(['github', 'patch']),
  deadlineAt: z.int(),
})

const Usage = z.object({
  inputTokens: z.int(),
  cachedTokens: z.int(),
  outputTokens: z.int(),
  costMicroUsd: z.int().nullable(),
  /** False when the endpoint sent no usage and the figures are our own high estimate. */
  reported: z.boolean(),
})

const ToolCall = z.object({ id: z.string(), name: z.string(), arguments: z.string() })

const SandboxReport = z.object({
  engine: z.string(),
  state: z.enum(['enforced', 'partial', 'none']),
  profile: z.string(),
  missing: z.array(z.string()),
})

const Decision = z.object({ kind: z.enum(['allow', 'deny', 'ask']), rule: z.string(), reason: z.string() })

const ChangedFile = z.object({
  /** JSON-safe: bytes that are not UTF-8 are shown as \xNN. */
  path: z.string(),
  status: z.enum(['added', 'modified', 'deleted', 'renamed', 'type-changed']),
  from: z.string().nullable(),
  mode: z.string(),
  added: z.int().nullable(),
  removed: z.int().nullable(),
  notes: z.array(z.string()),
})

const counts = z.object({ passed: z.int(), failed: z.int(), skipped: z.int() })

export const cells = ['baseCodeBaseTests', 'newCodeBaseTests', 'baseCodeNewTests', 'newCodeNewTests'] as const
export type Cell = (typeof cells)[number]

/** A command that was refused is a task too: its reply is an effect like any other, and nothing else ever happens in it. */
const TaskRefused = TaskAccepted.pick({
  command: true,
  requester: true,
  repository: true,
  installationId: true,
  subject: true,
  commentId: true,
  source: true,
}).extend({
  reason: z.string(),
  words: z.string(),
})

export const eventSchemas = {
  'task.accepted': TaskAccepted,
  'task.refused': TaskRefused,
  'attempt.started': z.object({ owner: z.string(), recovers: z.int().nullable() }),
  'cancel.requested': z.object({
    by: z.string(),
    /** For `superseded` and `closed` it is what people read as the reason of the end, such as "#12 was closed". */
    reason: z.string(),
    /** Why it is to end: somebody stopped it, a newer task makes it needless, its issue was closed. Absent: somebody stopped it. */
    kind: z.enum(['cancel', 'superseded', 'closed']).optional(),
  }),
  'workspace.opened': z.object({
    baseSha: sha,
    baseTree: sha,
    files: z.int(),
    sandbox: SandboxReport,
    /** Present: this repository wants no links to pages in its threads. */
    links: z.literal('artifact').optional(),
  }),
  'setup.settled': z.object({
    commands: z.array(z.string()),
    source: z.enum(['configured', 'detected', 'none']),
    exitCode: z.int().nullable(),
    output: z.string(),
    durationMs: z.int(),
    /** The work tree's tree after setup: what "changed" is measured against. */
    baselineTree: sha,
    hosts: z.array(z.string()),
    /** What it ran in; absent when there was nothing to set up, and in records from before it was kept. */
    sandbox: SandboxReport.optional(),
  }),
  'taint.raised': z.object({ source: z.string(), detail: z.string() }),
  'session.started': z.object({
    model: z.string(),
    systemPrompt: z.string(),
    userPrompt: z.string(),
    tools: z.array(z.string()),
    promptHash: z.string(),
  }),
  'model.requested': z.object({ turn: z.int(), requestHash: z.string(), reservedTokens: z.int() }),
  'model.answered': z.object({
    turn: z.int(),
    requestHash: z.string(),
    text: z.string(),
    toolCalls: z.array(ToolCall),
    finishReason: z.string(),
    usage: Usage,
    tries: z.int(),
    durationMs: z.int(),
  }),
  'model.failed': z.object({
    turn: z.int(),
    kind: z.string(),
    message: z.string(),
    tries: z.int(),
    /** What the failed tries are held to have cost. */
    usage: Usage,
  }),
  'tool.started': z.object({
    turn: z.int(),
    callId: z.string(),
    name: z.string(),
    kind: z.string(),
    readOnly: z.boolean(),
    decision: Decision,
  }),
  'tool.settled': z.object({
    turn: z.int(),
    callId: z.string(),
    name: z.string(),
    kind: z.string(),
    readOnly: z.boolean(),
    decision: Decision,
    /** Exactly what the model is shown. */
    result: z.string(),
    status: z.enum(['ok', 'error', 'denied', 'interrupted', 'cancelled']),
    /** Canonical tool metadata, version 1. */
    meta: z.record(z.string(), z.unknown()),
    exitCode: z.int().nullable(),
    outputBytes: z.int(),
    outputHash: z.string(),
    sandbox: SandboxReport.nullable(),
    hosts: z.array(z.string()),
    /** What a file tool wrote. A work tree is rebuilt by making the same calls again on the same tree; the hash proves it. */
    edits: z.array(z.object({ path: z.string(), contentHash: z.string() })),
    durationMs: z.int(),
  }),
  'snapshot.taken': z.object({
    turn: z.int(),
    tree: sha,
    live: z.boolean(),
    /** Taken when the session was resumed, of a tree without what these calls had written: they could not be made again. */
    lost: z.array(z.string()).optional(),
  }),
  'session.ended': z.object({
    reason: z.enum(['answer', 'turns', 'tokens', 'cost', 'deadline', 'cancelled', 'repetition', 'model-error', 'refused']),
    text: z.string(),
    turns: z.int(),
  }),
  'change.collected': z.object({
    tree: sha,
    /** The pull request's head had moved: the change was made again on this commit and its tree. Absent: on the task's own start. */
    onto: z.object({ sha, tree: sha }).optional(),
    files: z.array(ChangedFile),
    leftOut: z.array(z.object({ path: z.string(), reason: z.string() })),
    refused: z.array(z.object({ path: z.string(), reason: z.string() })),
  }),
  'check.settled': z.object({
    cell: z.enum(cells),
    name: z.string(),
    command: z.string(),
    source: z.enum(['configured', 'detected']),
    tree: sha,
    exitCode: z.int().nullable(),
    killedBy: z.string().nullable(),
    counts: counts.nullable(),
    output: z.string(),
    outputBytes: z.int(),
    outputHash: z.string(),
    sandbox: SandboxReport,
    cached: z.boolean(),
    durationMs: z.int(),
    /** How the setup of this checkout went; absent when there was nothing to set up. */
    setup: z
      .object({ exitCode: z.int().nullable(), hosts: z.array(z.string()), durationMs: z.int(), sandbox: SandboxReport.optional() })
      .optional(),
  }),
  'change.judged': z.object({ verdict: z.enum(['proven', 'unproven', 'no-change']), reasons: z.array(z.string()) }),
  'commit.made': z.object({ sha, tree: sha, parent: sha, branch: z.string(), message: z.string() }),
  'effect.prepared': z.object({ effectId: z.string(), kind: effectKind, key: z.string(), intent: z.record(z.string(), z.unknown()) }),
  'effect.dispatched': z.object({ effectId: z.string(), try: z.int() }),
  'effect.settled': z.object({
    effectId: z.string(),
    state: z.enum(['confirmed', 'rejected', 'unknown']),
    /** What exists at the other side: id, url, sha. */
    remote: z.record(z.string(), z.unknown()),
    reason: z.string(),
    foundByReadBack: z.boolean(),
  }),
  'task.ended': z.object({
    outcome: z.enum(outcomes),
    reason: z.string(),
    summary: z.string(),
    /** What of the result was on GitHub when the end came in the middle of its delivery. Old records have it in the reason. */
    delivered: z.string().optional(),
    /** Why nothing higher than the kept patch could be delivered, as people read it; absent: something was, or nothing was to be. */
    patchOnly: z.string().optional(),
    /** Why there is no success, as a code of the catalogue. Absent: there is, or the record is from before there were any. */
    code: z.string().optional(),
  }),
} as const

export type EventType = keyof typeof eventSchemas
export type Payload<T extends EventType> = z.infer<(typeof eventSchemas)[T]>

/** One event as a writer proposes it; `version` is 1 for every type so far. */
export type NewEvent = { [T in EventType]: { type: T; commandId: string; payload: Payload<T> } }[EventType]

/** One event as it is read back. `payload` is null once it was erased. */
export type RecordedEvent = {
  [T in EventType]: {
    type: T
    seq: number
    version: number
    commandId: string
    actor: string
    attempt: number
    at: number
    hash: string
    payload: Payload<T> | null
  }
}[EventType]

export const eventTypes = Object.keys(eventSchemas) as EventType[]
export const eventVersion = 1
/** The events whose projections are receipts. */
export const receiptTypes = ['model.answered', 'tool.settled', 'check.settled', 'effect.settled'] as const satisfies readonly EventType[]

export type TaskAccepted = Payload<'task.accepted'>
export type TaskRefused = Payload<'task.refused'>
export type Usage = z.infer<typeof Usage>
export type ToolCall = z.infer<typeof ToolCall>
export type SandboxReport = z.infer<typeof SandboxReport>
export type Decision = z.infer<typeof Decision>
export type ChangedFile = z.infer<typeof ChangedFile>
export type Grant = z.infer<typeof Grant>
export type Limits = z.infer<typeof Limits>
export type EffectKind = z.infer<typeof effectKind>
