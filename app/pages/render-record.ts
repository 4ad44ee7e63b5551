import { type Receipt, receiptColumns, receiptRow } from '../../domain/index.ts'
import { short, utc } from './foreign-text.ts'
import { type Html, html } from './html.ts'
import type { EventHead, Newest, TaskRecord } from './read-task-record.ts'

/** Every model call, tool call, check and effect, without what was put out: the columns are those of `grokbot verify --receipts`. */
export function receiptsSection({ receipts, row }: TaskRecord): Html {
  const { shown } = receipts
  return html`<section aria-labelledby="receipts">
<h2 id="receipts">Receipts</h2>
${leftOutLine(receipts, 'receipts', row.state === 'ended')}
${
  shown.length === 0
    ? html`<p>There is none.</p>`
    : html`<table class="receipts">
<caption>What was done, what decided about it, and how it went</caption>
<thead><tr>${receiptColumns.map(name => html`<th scope="col"${numeric.has(name) ? html` class="number"` : null}>${name}</th>`)}</tr></thead>
<tbody>
${shown.map(receiptLine)}</tbody>
</table>`
}
</section>`
}

const numeric: ReadonlySet<string> = new Set(['time', 'bytes'])

function receiptLine(receipt: Receipt): Html {
  const [seq = '', ...cells] = receiptRow(receipt)
  return html`<tr><th scope="row">${seq}</th>${cells.map((cell, index) => {
    const name = receiptColumns[index + 1] ?? ''
    if (numeric.has(name)) return html`<td class="number">${cell}</td>`
    return name === 'what' ? html`<td><code>${short(cell)}</code></td>` : html`<td>${short(cell)}</td>`
  })}</tr>\n`
}

export function eventsSection({ events, row }: TaskRecord): Html {
  return html`<section aria-labelledby="events">
<h2 id="events">Events</h2>
${leftOutLine(events, 'events', row.state === 'ended')}
<table class="events">
<caption>The record in its order; each event is chained to the one before it</caption>
<thead><tr><th scope="col">seq</th><th scope="col">at (UTC)</th><th scope="col">type</th><th scope="col">actor</th><th scope="col">attempt</th></tr></thead>
<tbody>
${events.shown.map(eventLine)}</tbody>
</table>
</section>`
}

function eventLine({ seq, at, type, actor, attempt }: EventHead): Html {
  return html`<tr><th scope="row">${seq}</th><td>${utc(at)}</td><td><code>${type}</code></td><td>${short(actor)}</td><td>${attempt}</td></tr>\n`
}

function leftOutLine({ leftOut, shown }: Newest<unknown>, name: string, hasEnded: boolean): Html | null {
  if (leftOut === 0) return null
  const where = hasEnded ? 'bundle.json has them all' : 'bundle.json will have them all once the task has ended'
  return html`<p class="quiet">The newest ${shown.length} are shown; ${leftOut} older ${name} are left out. ${where}.</p>`
}
