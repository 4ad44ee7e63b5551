import type { NewEvent, SandboxReport } from '../domain/index.ts'

/**
 * Everything a session reaches. The worker plugs these in; nothing here is a default. A port may throw only when it is
 * broken itself: the session then ends by that throw, with its events so far kept.
 */
export type SessionPorts = {
  record: RecordEvents
  sandbox: AgentSandbox
  model: ModelEndpoint
  /** A tree of the work tree as it is now, made by the worker. `refused`: the tree breaks a rule; the session goes on without it. */
  snapshot(): Promise<SnapshotResult>
  /** Brings the work tree to a recorded snapshot; null = as the workspace was when the session first started (after setup). */
  restore(tree: string | null): Promise<void>
  /** Asked before every model request and every tool call. A throw counts as pulled. */
  killSwitch(): KillSwitch | Promise<KillSwitch>
  /** UTC milliseconds. */
  now(): number
  /** In [0, 1): jitter of the retry waits only. */
  random(): number
  /** Aborted = the person, the lease or a signal asked the session to stop. */
  cancel: AbortSignal
  /** Never awaited and never allowed to fail the session. */
  progress(update: ProgressUpdate): void
  /** Pre-tool hooks in their order; absent = none. */
  hooks?: readonly PreToolHook[]
}

/**
 * Appends to the one task and attempt this session runs for, in order, all or none. `recorded`: durable as far as the
 * ledger promises, the events may now be acted on. `fenced`: a newer attempt owns the task and this session must stop.
 */
export type RecordEvents = (events: readonly NewEvent[]) => Promise<'recorded' | 'fenced'>

export type ModelEndpoint = {
  /** With its version path: `https://api.x.ai/v1`. */
  baseUrl: string
  /** Sent as a bearer token and nowhere else: in no event, no log line, no prompt. */
  apiKey: string
}

export type SnapshotResult = { kind: 'taken'; tree: string; live: boolean } | { kind: 'refused'; reason: string }

export type KillSwitch =
  | { kind: 'clear' }
  | { kind: 'pulled'; reason: string }
  /** `clearAt`: when it was last read as clear, UTC milliseconds; null = never. */
  | { kind: 'unreadable'; clearAt: number | null }

export type HookCall = { name: string; input: unknown }
export type HookVerdict =
  | { kind: 'pass' }
  | { kind: 'deny'; reason: string }
  /** The whole new input, under the names the model uses; it is checked like a model's own. */
  | { kind: 'rewrite'; input: unknown }
  /** The hook itself is broken: noted, and the call goes on. */
  | { kind: 'failed'; reason: string }
export type PreToolHook = { id: string; run(call: HookCall, signal: AbortSignal): Promise<HookVerdict> }

/** The narrow part of `sandbox/sandbox.ts` the tools call; a `Sandbox` fits. */
export type AgentSandbox = {
  report: SandboxReport
  run(command: Command): Promise<CommandResult>
  files: FileHost | null
  egress(): readonly { host: string; port: number; verdict: 'allowed' | 'refused'; reason: string }[]
}

type Command = { argv: readonly string[]; cwd?: string; wallMs?: number; signal?: AbortSignal }

export type CommandResult =
  | {
      kind: 'ended'
      exitCode: number | null
      killedBy: 'wall' | 'cpu' | 'memory' | 'processes' | 'disk' | 'output' | 'cancel' | 'sandbox' | null
      output: Uint8Array
      outputBytes: number
      outputHash: string
      durationMs: number
      report: SandboxReport
    }
  /** This command can not be run. */
  | { kind: 'refused'; reason: string }
  /** There is no sandbox to run it in. */
  | { kind: 'unavailable'; reason: string; missing: readonly string[] }

export type FileHost = {
  read(path: string, maxBytes: number): Promise<FileFault | { kind: 'read'; content: Uint8Array; mode: number }>
  write(path: string, content: Uint8Array): Promise<FileFault | { kind: 'written'; created: boolean }>
  list(
    path: string,
    entriesMax: number,
  ): Promise<
    FileFault | { kind: 'listed'; entries: { name: string; type: 'file' | 'dir' | 'link' | 'other'; bytes: number }[]; more: boolean }
  >
  walk(path: string, entriesMax: number): Promise<FileFault | { kind: 'walked'; paths: string[]; more: boolean }>
  search(
    argv: readonly string[],
    outputBytesMax: number,
    wallMs: number,
  ): Promise<FileFault | { kind: 'searched'; exitCode: number; stdout: Uint8Array; stderr: string; cut: boolean; timedOut: boolean }>
}

export type FileFault = {
  kind: 'fault'
  code:
    | 'not-found'
    | 'is-directory'
    | 'not-a-directory'
    | 'denied'
    | 'read-only'
    | 'too-large'
    | 'not-a-file'
    | 'loop'
    | 'name-too-long'
    | 'no-space'
    | 'broken'
  message: string
}

/** What the live view shows. Labels and texts are foreign: whoever prints them escapes them. */
export type ProgressUpdate =
  | { kind: 'turn'; turn: number; tokens: number; costMicroUsd: number | null }
  | { kind: 'retrying'; turn: number; failure: string; nextTry: number; triesMax: number; waitMs: number }
  | { kind: 'text'; turn: number; text: string }
  | { kind: 'tool-started'; turn: number; callId: string; name: string; verb: ToolVerb; label: string }
  | {
      kind: 'tool-settled'
      turn: number
      callId: string
      name: string
      verb: ToolVerb
      label: string
      status: 'ok' | 'error' | 'denied' | 'interrupted' | 'cancelled'
      exitCode: number | null
      /** `+9 -2`, `18 KB`, `exit 1`, or the rule that denied it. */
      detail: string
      /** Raw output for `-v`: exactly what the model is shown. */
      result: string
      durationMs: number
      tokens: number
      costMicroUsd: number | null
    }
  | { kind: 'taint'; source: string; detail: string }
  | { kind: 'snapshot'; turn: number; outcome: 'taken' | 'refused'; reason: string }
  | { kind: 'resumed'; turn: number; restoredTo: number; lost: number }
  | { kind: 'ended'; reason: string; turns: number; tokens: number; costMicroUsd: number | null }

export type ToolVerb = 'read' | 'edit' | 'write' | 'list' | 'search' | 'run' | 'plan' | 'use'
