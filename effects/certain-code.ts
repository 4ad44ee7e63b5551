/** A text with its code taken out, each piece behind a mark, so that what is left can be read as prose. */
export type MaskedText = { prose: string; restore(prose: string): string }

/** No character of Unicode: no text has it for a meaning, and the filter takes it out before it puts its own in. */
export const codeMark = '\ufdd0'

/**
 * The code of a Markdown text as far as its lines alone prove it; null when they do not. A line of backticks is a fence for
 * one parser and prose for another when it stands in a list, a quote or behind a backslash: what the text means is then in
 * doubt, and nothing of it may be spared for being code.
 */
export function maskCode(text: string): MaskedText | null {
  const code: string[] = []
  const mask = (piece: string) => `${codeMark}${code.push(piece) - 1}${codeMark}`
  const lines = text.split('\n')
  const tables = lines.some(line => delimiterRow.test(line) && line.includes('-') && line.includes('|'))
  const prose: string[] = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const end = endOfFence(lines, at)
    if (end !== null) {
      prose.push(mask(lines.slice(at, end + 1).join('\n')))
      at = end
      continue
    }
    const masked = fenceLike.test(line) ? null : maskSpans(line, tables, mask)
    if (masked === null) return null
    prose.push(masked)
  }
  return { prose: prose.join('\n'), restore: text => text.replace(marked, (_, index) => code[Number(index)] ?? '') }
}

const marked = new RegExp(`${codeMark}(\\d+)${codeMark}`, 'g')
const delimiterRow = /^[\s>|:*+\-\d.)]+$/
/** Could open a fence inside a quote, a list or a footnote, where lines alone do not say what ends it. */
const fenceLike = /^(?:[\s>*+\-\d.)]|\[\^[^\]\n]*\]:)*(?:`{3,}|~{3,})/
const opening = /^( {0,3})(`{3,}(?=[^`]*$)|~{3,})/

/**
 * The line that closes the fence of this one, or null. Each line between is indented at least as far: in a list one that is
 * not would end the item, and the fence with it. A line that might close it in one place and not in another is doubt too.
 */
function endOfFence(lines: readonly string[], start: number): number | null {
  const [, indent = '', fence = ''] = opening.exec(lines[start] ?? '') ?? []
  if (fence === '') return null
  const closing = new RegExp(`^\\s*\\${fence[0]}{${fence.length},}\\s*$`)
  for (let at = start + 1; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const own = line.length - line.replace(/^ +/, '').length
    if (line.trim() !== '' && own < indent.length) return null
    if (closing.test(line)) return own <= 3 && /^ *[`~]/.test(line) ? at : null
  }
  return null
}

/** Every run of backticks has its partner in the same line, or there is doubt. A table is cut into cells before its code is read. */
function maskSpans(line: string, tables: boolean, mask: (code: string) => string): string | null {
  const token = /\\[^\n]|`+/g
  let masked = ''
  let from = 0
  for (let match = token.exec(line); match; match = token.exec(line)) {
    const [run] = match
    if (run === '\\`') return null
    if (run.startsWith('\\')) continue
    const partner = new RegExp(`(?<!\`)${run}(?!\`)`, 'g')
    partner.lastIndex = token.lastIndex
    if (!partner.test(line)) return null
    const span = line.slice(match.index, partner.lastIndex)
    if (tables && span.includes('|')) return null
    masked += line.slice(from, match.index) + mask(span)
    from = token.lastIndex = partner.lastIndex
  }
  return masked + line.slice(from)
}
