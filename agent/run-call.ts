import type { NewEvent, Payload, ToolCall } from '../domain/index.ts'
import { crashpoint, redact } from '../telemetry/index.ts'
import type { SessionContext } from './context.ts'
import type { SettledCall } from './fold-session.ts'
import type { FileHost } from './ports.ts'
import type { ReadyCall } from './run-batch.ts'
import { toolKinds } from './tools/kinds.ts'
import { contentHash } from './tools/outcome.ts'
import { type ParsedCall, parseCall } from './tools/parse-call.ts'
import type { ToolContext, ToolOutcome } from './tools/tool.ts'
import { toolMeta } from './tools/tool-meta.ts'

/** What the conversation gets for one call. */
export type Settled = { callId: string; text: string }

export function startedEvent(turn: number, entry: ReadyCall): NewEvent {
  const { tool } = entry.call
  const payload = { turn, callId: entry.id, name: tool.name, kind: tool.kind, readOnly: tool.readOnly, decision: entry.decision }
  return { type: 'tool.started', commandId: `turn:${turn}:call:${entry.id}:start`, payload }
}

/** Null: fenced or handed over, the call keeps no result of this attempt. */
export async function runCall(session: SessionContext, turn: number, entry: ReadyCall): Promise<Settled | null> {
  const { call } = entry
  const shown = { turn, callId: entry.id, name: call.tool.name, verb: call.tool.verb, label: call.tool.label(call.input) }
  session.progress({ kind: 'tool-started', ...shown })
  const startedAt = session.ports.now()
  const egressBefore = session.ports.sandbox.egress().length
  const outcome = await runGuarded(session, call)
  const left = session.stop.reason()
  if (left === 'fenced' || left === 'hand-over') return null
  const durationMs = Math.max(0, Math.round(session.ports.now() - startedAt))
  const hosts = hostsSince(session, egressBefore)
  const text = [...entry.notes.map(note => `[${note}]`), outcome.text].join('\n')
  const payload = { ...settledPayload(turn, entry, outcome, text), hosts, durationMs }
  const taint = taintOf(session, call, hosts)
  const settled: NewEvent = { type: 'tool.settled', commandId: `turn:${turn}:call:${entry.id}`, payload }
  if (!(await session.journal.append(...(taint ? [taint] : []), settled))) return null
  if (taint?.type === 'taint.raised') session.progress({ kind: 'taint', ...taint.payload })
  showSettled(session, { ...shown, status: payload.status, exitCode: payload.exitCode, detail: outcome.detail, result: text, durationMs })
  return { callId: entry.id, text }
}

function settledPayload(
  turn: number,
  entry: ReadyCall,
  outcome: ToolOutcome,
  text: string,
): Omit<Payload<'tool.settled'>, 'hosts' | 'durationMs'> {
  const { tool, input } = entry.call
  return {
    turn,
    callId: entry.id,
    name: tool.name,
    kind: tool.kind,
    readOnly: tool.readOnly,
    decision: entry.decision,
    result: text,
    status: outcome.status,
    meta: toolMeta(tool, input),
    exitCode: outcome.exitCode ?? null,
    outputBytes: outcome.output?.bytes ?? Buffer.byteLength(outcome.text),
    outputHash: outcome.output?.hash ?? contentHash(Buffer.from(outcome.text)),
    sandbox: outcome.sandbox ?? null,
    edits: [...(outcome.edits ?? [])],
  }
}

/** A result for a call that does not run, or did not come back. */
export async function settleRefused(
  session: SessionContext,
  turn: number,
  raw: ToolCall,
  status: 'denied' | 'error' | 'interrupted' | 'cancelled',
  decision: Payload<'tool.settled'>['decision'],
  text: string,
  parsed?: ParsedCall | null,
): Promise<Settled | null> {
  const tool = session.tools.get(raw.name)
  const call = parsed ?? readable(session, raw)
  const kind = tool?.kind ?? 'other'
  const payload: Payload<'tool.settled'> = {
    turn,
    callId: raw.id,
    name: raw.name,
    kind,
    readOnly: tool?.readOnly ?? toolKinds[kind].readOnly,
    decision,
    result: text,
    status,
    meta: call
      ? toolMeta(call.tool, call.input)
      : { version: 1, name: raw.name, kind, label: toolKinds[kind].label, read_only: toolKinds[kind].readOnly },
    exitCode: null,
    outputBytes: Buffer.byteLength(text),
    outputHash: contentHash(Buffer.from(text)),
    sandbox: null,
    hosts: [],
    edits: [],
    durationMs: 0,
  }
  if (!(await session.journal.append({ type: 'tool.settled', commandId: `turn:${turn}:call:${raw.id}`, payload }))) return null
  const label = call ? call.tool.label(call.input) : raw.name
  const detail = status === 'denied' ? `rule ${decision.rule}` : status
  showSettled(session, {
    turn,
    callId: raw.id,
    name: raw.name,
    verb: tool?.verb ?? 'use',
    label,
    status,
    exitCode: null,
    detail,
    result: text,
    durationMs: 0,
  })
  return { callId: raw.id, text }
}

/** A recorded result is what the model sees; only what a tool keeps in memory is made again. */
export async function settleRemembered(session: SessionContext, raw: ToolCall, settled: SettledCall): Promise<Settled> {
  const tool = session.tools.get(raw.name)
  if (tool?.inMemory && settled.status === 'ok') {
    const call = readable(session, raw)
    if (call) await tool.run(call.input, toolContext(session, unreachableFiles))
  }
  return { callId: raw.id, text: settled.result }
}

export function readable(session: SessionContext, raw: ToolCall): ParsedCall | null {
  const parsed = parseCall(raw, session.tools, session.limits)
  return parsed.kind === 'parsed' ? parsed : null
}

export function toolContext(session: SessionContext, files: FileHost): ToolContext {
  return {
    files,
    sandbox: session.ports.sandbox,
    todos: session.todos,
    limits: session.limits,
    signal: session.stop.signal,
    quote: session.frames.data,
    names: { parameter: name => name, tool: name => name },
    timeLeftMs: () => Math.max(1, session.deadlineAt - session.ports.now()),
  }
}

const stoppedOutcome: ToolOutcome = { status: 'cancelled', text: 'Cancelled: the session is being stopped.', detail: 'cancelled' }

/** A tool that fails is a result, not the end; one that does not come back after a stop is left behind. */
async function runGuarded(session: SessionContext, call: ParsedCall): Promise<ToolOutcome> {
  // A call that waited for another of its batch may come up after the stop.
  if (session.stop.signal.aborted) return stoppedOutcome
  const files = session.ports.sandbox.files ?? unreachableFiles
  const running = call.tool.run(call.input, toolContext(session, files)).catch((error: unknown): ToolOutcome => {
    const reason = redact(error instanceof Error ? error.message : String(error))
    return { status: 'error', text: `Tool ${call.tool.name} failed: ${reason}`, detail: 'failed' }
  })
  crashpoint('tool.running')
  const { signal } = session.stop
  const { promise: given, resolve: giveUp } = Promise.withResolvers<ToolOutcome>()
  let timer: NodeJS.Timeout | undefined
  const onStop = () => {
    timer = setTimeout(giveUp, session.limits.toolGraceMs, stoppedOutcome)
  }
  if (signal.aborted) onStop()
  else signal.addEventListener('abort', onStop, { once: true })
  try {
    return await Promise.race([running, given])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onStop)
  }
}

const fault = async () => ({ kind: 'fault' as const, code: 'broken' as const, message: 'there is no file service' })
const unreachableFiles: FileHost = { read: fault, write: fault, list: fault, walk: fault, search: fault }

function hostsSince(session: SessionContext, from: number): string[] {
  const seen = session.ports.sandbox.egress().slice(from)
  return [...new Set(seen.map(entry => `${entry.host}:${entry.port}${entry.verdict === 'refused' ? ' (refused)' : ''}`))]
}

/** Reading what strangers wrote taints the task: their branch's files, and whatever a command fetched from outside. */
function taintOf(session: SessionContext, call: ParsedCall, hosts: readonly string[]): NewEvent | null {
  if (hosts.some(host => !host.endsWith('(refused)')))
    return session.taints.raise('network', `${call.tool.name} reached ${hosts.join(', ')}`)
  if (!session.repositoryTrusted && call.tool.touch(call.input).reads !== null) {
    return session.taints.raise('untrusted-repository', `${call.tool.name} read files of a head that is not trusted`)
  }
  return null
}

type Shown = Omit<Extract<Parameters<SessionContext['progress']>[0], { kind: 'tool-settled' }>, 'kind' | 'tokens' | 'costMicroUsd'>

function showSettled(session: SessionContext, shown: Shown): void {
  const used = session.budget.used()
  session.progress({ kind: 'tool-settled', ...shown, tokens: used.inputTokens + used.outputTokens, costMicroUsd: used.costMicroUsd })
}
