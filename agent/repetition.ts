import type { ToolCall } from '../domain/index.ts'
import { isRecord } from './tools/read-arguments.ts'
import type { Tool } from './tools/tool.ts'

/** Counts rounds in a row that make the same calls: a model that goes round in a circle is told so, then stopped. */
export type RepetitionGuard = { observe(calls: readonly ToolCall[]): 'go-on' | 'nudge' | 'stop' }

type Row = { kind: string; nudgeAt: number; stopAt: number }

const repetitionTable = {
  /** Every call reads or plans. */
  looking: { kind: 'looking', nudgeAt: 4, stopAt: 8 },
  acting: { kind: 'acting', nudgeAt: 8, stopAt: 12 },
  /** One command that does nothing: a model that waits for somebody. */
  idling: { kind: 'idling', nudgeAt: Number.POSITIVE_INFINITY, stopAt: 4 },
} as const satisfies { [kind: string]: Row }

export function openRepetitionGuard(tools: ReadonlyMap<string, Tool>): RepetitionGuard {
  let last = ''
  let row: Row = repetitionTable.acting
  let rounds = 0
  return {
    observe(calls) {
      const current = rowOf(calls, tools)
      const signature = `${current.kind}\n${calls
        .map(call => signatureOf(call, current))
        .sort()
        .join('\n')}`
      rounds = signature === last ? rounds + 1 : 1
      last = signature
      row = current
      if (rounds >= row.stopAt) return 'stop'
      return rounds === row.nudgeAt ? 'nudge' : 'go-on'
    },
  }
}

function rowOf(calls: readonly ToolCall[], tools: ReadonlyMap<string, Tool>): Row {
  const kinds = calls.map(call => tools.get(call.name)?.kind)
  if (calls.length === 1 && kinds[0] === 'execute' && commandOf(calls[0] as ToolCall) === 'true') return repetitionTable.idling
  return kinds.every(kind => kind === 'read' || kind === 'plan') ? repetitionTable.looking : repetitionTable.acting
}

/** Names and arguments, whatever the order of keys and calls; a command that does nothing is the same whatever is said with it. */
function signatureOf(call: ToolCall, row: Row): string {
  if (row === repetitionTable.idling) return call.name
  const parsed = parse(call.arguments)
  return `${call.name}\u241f${parsed === undefined ? call.arguments.trim() : JSON.stringify(sorted(parsed))}`
}

function commandOf(call: ToolCall): string | null {
  const parsed = parse(call.arguments)
  return isRecord(parsed) && typeof parsed.command === 'string' ? parsed.command.trim().toLowerCase() : null
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([key, entry]) => [key, sorted(entry)]),
  )
}
