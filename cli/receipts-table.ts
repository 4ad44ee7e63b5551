import { type Receipt, receiptColumns, receiptRow } from '../domain/index.ts'
import { escapeShort } from './escape.ts'
import { pad, width } from './view/columns.ts'

const cellCharactersMax = 44

/** The receipts as people read them, one line each. Foreign text in a cell is escaped and cut. */
export function receiptsTable(receipts: readonly Receipt[]): string {
  const rows = [[...receiptColumns], ...receipts.map(receiptRow)].map(row => row.map(cell => escapeShort(cell, cellCharactersMax)))
  const widths = receiptColumns.map((_, column) => Math.max(...rows.map(row => width(row[column] ?? ''))))
  return rows
    .map(row =>
      row
        .map((cell, column) => pad(cell, widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
