import { took } from '../../domain/index.ts'
import type { TaskProgress } from '../../worker/index.ts'
import { pad } from './columns.ts'
import { type Detail, linesUnder, type Row, rowOf } from './rows.ts'
import { clock } from './units.ts'
import type { View, ViewOptions } from './view.ts'

/** One line an event, never rewritten, no colour: for logs, pipes and CI. */
export function openPlainView({ stream, detail, startedAt, now, head }: ViewOptions): View {
  let level: Detail = detail
  for (const line of head.lines) stream.write(`${line}\n`)
  return {
    progress(update: TaskProgress) {
      const at = clock(now() - startedAt)
      if (update.kind === 'opened') stream.write(`${head.opened(update)}\n`)
      const row = rowOf(update)
      if (row) stream.write(`${plainLine(at, row)}\n`)
      for (const line of linesUnder(update, level)) stream.write(`        ${line}\n`)
    },
    note: line => void stream.write(`${line}\n`),
    toggleDetail() {
      level = level === 0 ? 1 : 0
    },
    close: () => undefined,
  }
}

function plainLine(at: string, { verb, label, detail, durationMs }: Row): string {
  const parts = [label, detail, durationMs === null ? '' : took(durationMs)].filter(part => part !== '')
  return `${at.padStart(6)}  ${pad(verb, 8)} ${parts.join('  ')}`.trimEnd()
}
