import { escapeLines, escapeText } from '../../telemetry/index.ts'

const markup: unique symbol = Symbol('markup')

/** Markup. Nothing that was read from anywhere can be one: the symbol is not exported, and no JSON can name it. */
export type Html = { readonly [markup]: string }
type Value = string | number | Html | null | readonly Value[]

/**
 * The only way to make markup. What stands in the template is ours; whatever is put into it passes the one escape function
 * and is text, in an element as well as in an attribute, which must stand in double quotes. Null is nothing.
 */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return { [markup]: parts.map((part, index) => `${part}${markupOf(values[index] ?? null)}`).join('') }
}

/** Text over several lines, for a `<pre>`. */
export function lines(text: string): Html {
  return { [markup]: withEntities(escapeLines(text)) }
}

/** Only of whole pages: everything else stays `Html` until then. */
export function bytesOf(page: Html): Buffer {
  return Buffer.from(page[markup], 'utf8')
}

function markupOf(value: Value): string {
  if (value === null) return ''
  if (typeof value === 'number') return String(value)
  if (typeof value === 'string') return withEntities(escapeText(value))
  return isList(value) ? value.map(markupOf).join('') : value[markup]
}

/** `Array.isArray` does not narrow a read-only list. */
function isList(value: Html | readonly Value[]): value is readonly Value[] {
  return Array.isArray(value)
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function withEntities(text: string): string {
  return text.replace(/[&<>"']/g, character => entities[character] ?? '')
}
