import type { TaskProgress } from '../../worker/index.ts'
import { escapeLines, escapeText } from '../escape.ts'
import { money, tokens } from './units.ts'

/** One line of the view, whoever draws it. Everything in it has passed the escape function. */
export type Row = { verb: string; label: string; detail: string; durationMs: number | null }

/** What is shown of what happens: 0 = rows, 1 = with the output of each command, 2 = with the model's words too. */
export type Detail = 0 | 1 | 2

/** The row of an update that is over; null when it has none. */
export function rowOf(update: TaskProgress): Row | null {
  switch (update.kind) {
    case 'stage':
      return stageNames[update.stage]
        ? { verb: stageNames[update.stage] ?? '', label: escapeText(update.detail), detail: '', durationMs: null }
        : null
    case 'opened':
      return null
    case 'check':
      return update.state === 'running' ? null : checkRow(update)
    case 'ended':
      return null
    case 'session':
      return sessionRow(update.update)
  }
}

/** The row of something that has begun and is not over; null when nothing has. */
export function begunRow(update: TaskProgress): Row | null {
  if (update.kind === 'check') return update.state === 'running' ? { ...checkRow(update), durationMs: null } : null
  if (update.kind === 'stage') {
    const name = stageNames[update.stage]
    return { verb: name ?? update.stage, label: name ? escapeText(update.detail) : '', detail: '', durationMs: null }
  }
  if (update.kind !== 'session') return null
  const { update: inner } = update
  if (inner.kind === 'tool-started') return { verb: inner.verb, label: escapeText(inner.label), detail: 'running', durationMs: null }
  if (inner.kind === 'turn') return { verb: 'model', label: `turn ${inner.turn}`, detail: 'asked', durationMs: null }
  return null
}

/** Stages that have a line of their own; the others are told by what happens in them. */
const stageNames: Readonly<Record<string, string>> = { mirror: 'fetch', workspace: 'open', setup: 'setup', delivery: 'deliver' }
const cellNames: Readonly<Record<string, string>> = {
  baseCodeBaseTests: 'base',
  newCodeNewTests: 'change',
  newCodeBaseTests: "change, base's tests",
  baseCodeNewTests: 'base, new tests',
}

function checkRow(update: Extract<TaskProgress, { kind: 'check' }>): Row {
  const cell = cellNames[update.cell] ?? escapeText(update.cell)
  const detail = update.state === 'running' ? 'running' : escapeText(update.detail || update.state)
  return { verb: 'check', label: `${escapeText(update.name)} (${cell})`, detail, durationMs: update.durationMs }
}

function sessionRow(update: Extract<TaskProgress, { kind: 'session' }>['update']): Row | null {
  switch (update.kind) {
    case 'tool-settled': {
      const denied = update.status === 'denied'
      return {
        verb: denied ? 'denied' : update.verb,
        label: escapeText(denied ? `${update.verb} ${update.label}` : update.label),
        detail: escapeText(update.detail),
        durationMs: update.verb === 'run' && !denied ? update.durationMs : null,
      }
    }
    case 'retrying':
      return {
        verb: 'retry',
        label: escapeText(`model: ${update.failure}`),
        detail: `try ${update.nextTry} of ${update.triesMax}`,
        durationMs: update.waitMs,
      }
    case 'taint':
      return { verb: 'note', label: escapeText(`${update.source}: ${update.detail}`), detail: '', durationMs: null }
    case 'snapshot':
      return update.outcome === 'refused'
        ? { verb: 'note', label: escapeText(`no snapshot: ${update.reason}`), detail: '', durationMs: null }
        : null
    case 'resumed':
      return {
        verb: 'resumed',
        label: `at turn ${update.turn}`,
        detail: update.lost > 0 ? `${update.lost} calls lost` : '',
        durationMs: null,
      }
    default:
      return null
  }
}

/** Lines under a row: a command's output, the model's words; already escaped, at most `linesMax` of them. */
export function linesUnder(update: TaskProgress, detail: Detail): string[] {
  if (update.kind !== 'session') return []
  const { update: inner } = update
  if (inner.kind === 'tool-settled' && inner.verb === 'run' && detail >= 1) return cutLines(inner.result)
  if (inner.kind === 'text' && detail >= 2) return cutLines(inner.text)
  return []
}

const linesMax = 200

function cutLines(text: string): string[] {
  const lines = escapeLines(text.trimEnd()).split('\n')
  if (lines.length <= linesMax) return lines
  const half = linesMax / 2
  return [...lines.slice(0, half), `… ${lines.length - linesMax} lines left out …`, ...lines.slice(-half)]
}

/** What has been used so far, as the session last said it. */
export type Spent = { turn: number; tokens: number; costMicroUsd: number | null }

export function spentOf(update: TaskProgress, before: Spent): Spent {
  if (update.kind !== 'session') return before
  const { update: inner } = update
  if (inner.kind === 'turn') return { turn: inner.turn, tokens: inner.tokens, costMicroUsd: inner.costMicroUsd }
  if (inner.kind === 'tool-settled' || inner.kind === 'ended') return { ...before, tokens: inner.tokens, costMicroUsd: inner.costMicroUsd }
  return before
}

/** Money where a price is known, else tokens. */
export function spentText({ turn, tokens: count, costMicroUsd }: Spent): string {
  return `turn ${turn} · ${costMicroUsd === null ? tokens(count) : money(costMicroUsd)}`
}
