import { escapeText } from './escape.ts'
import { UsageError } from './exit.ts'

/** What goes into a header of a delivery: a value that no header can hold is the caller's mistake, and no fault of the network. */
export function headerValue(option: string, text: string): string {
  if (/^[\x21-\x7e]{1,100}$/.test(text)) return text
  throw new UsageError('option-value', `${option} is one word of at most 100 letters, digits and signs, not ${escapeText(text) || 'empty'}`)
}
