import { type Bundle, isReceiptType } from './bundle.ts'
import type { Cell, Decision, Payload, RecordedEvent, SandboxReport, Usage } from './event.ts'
import type { ReceiptType } from './redaction.ts'
import type { TestCounts } from './test-counts.ts'
import { parseReceipt } from './verify-bundle.ts'

/**
 * One receipt is what one event of these four kinds proves, without the text the model or a command put out: the same
 * from the ledger as from a bundle, full or redacted. `hash` is the event's place in the chain.
 */
export type Receipt = ReceiptHead & ReceiptBody
type ReceiptHead = { seq: number; attempt: number; at: number; hash: string }
type ReceiptBody = ModelReceipt | ToolReceipt | CheckReceipt | EffectReceipt | { kind: 'erased'; was: ReceiptType }

type ModelReceipt = {
  kind: 'model'
  turn: number
  /** The SHA-256 of the request that was sent. */
  requestHash: string
  finishReason: string
  usage: Usage
  tries: number
  durationMs: number
}

type ToolReceipt = {
  kind: 'tool'
  turn: number
  callId: string
  name: string
  /** The command, path or pattern it was called with, as its metadata has it; empty when it has none. */
  what: string
  status: Payload<'tool.settled'>['status']
  decision: Decision
  sandbox: SandboxReport | null
  exitCode: number | null
  outputBytes: number
  /** Null: left out of a public bundle. */
  outputHash: string | null
  hosts: string[]
  edits: { path: string; contentHash: string }[]
  durationMs: number
}

type CheckReceipt = {
  kind: 'check'
  cell: Cell
  name: string
  command: string
  source: 'configured' | 'detected'
  tree: string
  exitCode: number | null
  killedBy: string | null
  counts: TestCounts | null
  sandbox: SandboxReport
  /** How the setup of its checkout went; null when there was nothing to set up. */
  setup: { exitCode: number | null; hosts: string[]; durationMs: number } | null
  outputBytes: number
  outputHash: string | null
  cached: boolean
  durationMs: number
}

type EffectReceipt = {
  kind: 'effect'
  effectId: string
  state: Payload<'effect.settled'>['state']
  remote: Record<string, unknown>
  reason: string
  foundByReadBack: boolean
}

/** The receipts of a bundle that was found intact, in the order of its events. An effect that was unknown first and found later has two. */
export function receiptsOfBundle({ entries }: Bundle): Receipt[] {
  return entries.flatMap(({ header, payload }) => {
    if (!isReceiptType(header.type) || payload.kind === 'withheld') return []
    if (payload.kind === 'erased') return [receiptOf(headOf(header), header.type, null)]
    const parsed = parseReceipt(header.type, header.version, payload.text, payload.kind === 'redacted')
    if (parsed.kind !== 'parsed') throw new Error(`event ${header.seq} of a bundle that was not verified: ${parsed.message}`)
    return [receiptOf(headOf(header), header.type, parsed.payload as Partial<AnyPayload>)]
  })
}

/** The same from the events themselves, of a task that need not have ended. */
export function receiptsOfEvents(events: readonly RecordedEvent[]): Receipt[] {
  return events.flatMap(event =>
    isReceiptType(event.type) ? [receiptOf(headOf(event), event.type, event.payload as AnyPayload | null)] : [],
  )
}

type AnyPayload = Payload<ReceiptType>

function headOf({ seq, attempt, at, hash }: ReceiptHead): ReceiptHead {
  return { seq, attempt, at, hash }
}

function receiptOf(head: ReceiptHead, type: ReceiptType, payload: Partial<AnyPayload> | null): Receipt {
  if (payload === null) return { ...head, kind: 'erased', was: type }
  switch (type) {
    case 'model.answered':
      return { ...head, ...modelReceipt(payload as Payload<'model.answered'>) }
    case 'tool.settled':
      return { ...head, ...toolReceipt(payload as Payload<'tool.settled'>) }
    case 'check.settled':
      return { ...head, ...checkReceipt(payload as Payload<'check.settled'>) }
    case 'effect.settled':
      return { ...head, kind: 'effect', ...(payload as Payload<'effect.settled'>) }
  }
}

// Only fields that a redacted payload has too are read as if they were always there.

function modelReceipt({ turn, requestHash, finishReason, usage, tries, durationMs }: Payload<'model.answered'>): ModelReceipt {
  return { kind: 'model', turn, requestHash, finishReason, usage, tries, durationMs }
}

function toolReceipt(payload: Payload<'tool.settled'>): ToolReceipt {
  const { turn, callId, name, status, decision, sandbox, exitCode, outputBytes, hosts, edits, durationMs } = payload
  const outputHash = payload.outputHash ?? null
  const what = inputOf(payload.meta)
  return { kind: 'tool', turn, callId, name, what, status, decision, sandbox, exitCode, outputBytes, outputHash, hosts, edits, durationMs }
}

function checkReceipt(payload: Payload<'check.settled'>): CheckReceipt {
  const { cell, name, command, source, tree, exitCode, killedBy, counts, sandbox, outputBytes, cached, durationMs } = payload
  const [outputHash, setup] = [payload.outputHash ?? null, payload.setup ?? null]
  const ran = { exitCode, killedBy, counts, sandbox, setup }
  return { kind: 'check', cell, name, command, source, tree, ...ran, outputBytes, outputHash, cached, durationMs }
}

const inputNames = ['command', 'pattern', 'path', 'directory'] as const

/** `meta` is canonical metadata, version 1, but it is read as what it is: a record with anything in it. */
function inputOf(meta: Record<string, unknown>): string {
  const input = meta['input']
  if (typeof input !== 'object' || input === null) return ''
  for (const name of inputNames) {
    const value = (input as Record<string, unknown>)[name]
    if (typeof value === 'string') return value
  }
  return ''
}

export const receiptColumns = ['seq', 'kind', 'what', 'decision', 'sandbox', 'result', 'time', 'bytes', 'hosts'] as const

/** One line of the table people read. Foreign text in it is not escaped: that is for whoever shows it. */
export function receiptRow(receipt: Receipt): string[] {
  const row = cellsOf(receipt)
  return [String(receipt.seq), receipt.kind, row.what, row.decision, row.sandbox, row.result, row.time, row.bytes, row.hosts]
}

type Row = Record<'what' | 'decision' | 'sandbox' | 'result' | 'time' | 'bytes' | 'hosts', string>

const nothing: Row = { what: '', decision: '', sandbox: '', result: '', time: '', bytes: '', hosts: '' }

function cellsOf(receipt: Receipt): Row {
  switch (receipt.kind) {
    case 'model': {
      const { turn, usage, durationMs } = receipt
      const tokens = `${usage.inputTokens} + ${usage.outputTokens} tokens${usage.reported ? '' : ' (estimated)'}`
      return { ...nothing, what: `turn ${turn}`, result: tokens, time: seconds(durationMs) }
    }
    case 'tool': {
      const { name, what, decision, sandbox, status, exitCode, durationMs, outputBytes, hosts } = receipt
      return {
        what: `${name} ${what}`.trimEnd(),
        decision: `${decision.kind} ${decision.rule}`,
        sandbox: sandbox?.state ?? '',
        result: exitCode === null ? status : `exit ${exitCode}`,
        time: seconds(durationMs),
        bytes: String(outputBytes),
        hosts: hosts.join(' '),
      }
    }
    case 'check': {
      const { name, cell, sandbox, setup, durationMs, outputBytes, cached } = receipt
      const result = `${checkResult(receipt)}${cached ? ' (shared)' : ''}`
      return {
        what: `${name} ${cell}`,
        decision: '',
        sandbox: sandbox.state,
        result,
        time: seconds(durationMs),
        bytes: String(outputBytes),
        hosts: setup?.hosts.join(' ') ?? '',
      }
    }
    case 'effect':
      return { ...nothing, what: effectName(receipt.effectId), result: `${receipt.state}${receipt.foundByReadBack ? ' (read back)' : ''}` }
    case 'erased':
      return { ...nothing, what: receipt.was, result: 'erased' }
  }
}

function checkResult({ exitCode, killedBy, counts }: CheckReceipt): string {
  if (killedBy !== null) return `killed: ${killedBy}`
  return counts === null ? `exit ${exitCode}` : `exit ${exitCode}, ${counts.passed} pass, ${counts.failed} fail`
}

/** `<task>:<kind>:<ordinal>` */
function effectName(effectId: string): string {
  return effectId.split(':').slice(1).join(' ') || effectId
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
