import { took } from '../../domain/index.ts'
import type { TaskProgress } from '../../worker/index.ts'
import { cutTo, pad, width } from './columns.ts'
import { begunRow, type Detail, linesUnder, type Row, rowOf, type Spent, spentOf, spentText } from './rows.ts'
import { bytes, clock, plural } from './units.ts'
import type { View, ViewOptions } from './view.ts'

const tickMs = 1_000
const [verbColumns, detailColumns, tookColumns] = [8, 14, 7] as const
const csi = '\u001b['

/**
 * Redraws the last two lines only: what is being done, and the counters. Everything above them is written once and stays
 * in the scrollback. The clock is the sign of life: nothing spins.
 */
export function openLiveView(options: ViewOptions & { colour: boolean; hints: string }): View {
  const { stream, startedAt, now, head } = options
  let level: Detail = options.detail
  let spent: Spent = { turn: 0, tokens: 0, costMicroUsd: 0 }
  let begun: { row: Row; at: number } | null = null
  let reads: { at: number; count: number; bytes: number; label: string; detail: string } | null = null
  let drawn = false
  let lastOutput: string[] = []
  const columns = () => Math.max(20, (stream.columns ?? 80) - 1)
  const dim = (text: string) => (options.colour ? `${csi}2m${text}${csi}22m` : text)

  function erase(): string {
    const codes = drawn ? `\r${csi}1A${csi}J` : ''
    drawn = false
    return codes
  }
  /** Writes finished lines above the two that are redrawn, in one write so that nothing flickers. */
  function draw(above: readonly string[]) {
    const at = now()
    const live = reads
      ? lineOf(reads.at - startedAt, readsRow(reads), columns())
      : begun
        ? lineOf(begun.at - startedAt, timed(begun, at), columns())
        : ''
    const status = dim(cutTo(`  ${spentText(spent)} · ${clock(at - startedAt)} · ${options.hints}`, columns()))
    stream.write(`${erase()}${above.map(line => `${line}\n`).join('')}${live}\n${status}`)
    drawn = true
  }
  function endReads(): string[] {
    if (reads === null) return []
    const line = lineOf(reads.at - startedAt, readsRow(reads), columns())
    reads = null
    return [line]
  }
  function take(update: TaskProgress): string[] {
    const at = now()
    if (update.kind === 'session' && update.update.kind === 'tool-settled' && isRead(update.update)) {
      const { label, detail, result } = update.update
      const row = rowOf(update)
      reads ??= { at, count: 0, bytes: 0, label: row?.label ?? label, detail: row?.detail ?? detail }
      reads.count += 1
      reads.bytes += Buffer.byteLength(result)
      begun = null
      return []
    }
    const row = rowOf(update)
    if (!row) return []
    const line = lineOf((begun?.at ?? at) - startedAt, row, columns())
    begun = null
    return [...endReads(), line]
  }

  stream.write(head.lines.map(line => `${line}\n`).join(''))
  const timer = setInterval(() => draw([]), tickMs)
  timer.unref()
  return {
    progress(update) {
      spent = spentOf(update, spent)
      const opened = update.kind === 'opened' ? [head.opened(update), ''] : []
      const lines = take(update)
      const output = linesUnder(update, 1).map(line => `        ${line}`)
      if (output.length > 0) lastOutput = output
      const under = linesUnder(update, level).map(line => `        ${line}`)
      const started = begunRow(update)
      if (started) begun = { row: started, at: now() }
      draw([...opened, ...lines, ...(under.length > 0 ? endReads() : []), ...under])
    },
    note: line => draw([...endReads(), line]),
    toggleDetail() {
      level = level === 0 ? 1 : 0
      draw([...endReads(), level === 0 ? '  details off' : '  details on: the output of each command', ...(level === 0 ? [] : lastOutput)])
    },
    close() {
      clearInterval(timer)
      const last = endReads()
      stream.write(`${erase()}${last.map(line => `${line}\n`).join('')}`)
    },
  }
}

function isRead({ verb, status }: { verb: string; status: string }): boolean {
  return verb === 'read' && status === 'ok'
}

function readsRow({ count, bytes: size, label, detail }: { count: number; bytes: number; label: string; detail: string }): Row {
  return count === 1
    ? { verb: 'read', label, detail, durationMs: null }
    : { verb: 'read', label: plural(count, 'file'), detail: bytes(size), durationMs: null }
}

function timed({ row, at }: { row: Row; at: number }, now: number): Row {
  return { ...row, durationMs: Math.max(0, now - at) }
}

/** `  0:05  run     npm test -- parser      exit 1        3.2 s`, at most `columns` wide. */
function lineOf(elapsedMs: number, { verb, label, detail, durationMs }: Row, columns: number): string {
  const start = `${clock(elapsedMs).padStart(6)}  ${pad(verb, verbColumns)}`
  const end =
    detail === '' && durationMs === null
      ? ''
      : `${pad(detail, detailColumns)} ${(durationMs === null ? '' : took(durationMs)).padStart(tookColumns)}`
  const room = columns - width(start) - (end === '' ? 0 : Math.max(detailColumns + 1 + tookColumns, width(end)) + 1)
  if (room < labelColumnsMin) return cutTo(`${start}${label}  ${detail}`, columns)
  return end === '' ? `${start}${cutTo(label, room)}` : `${start}${pad(cutTo(label, room), room)} ${end}`.trimEnd()
}

const labelColumnsMin = 12
