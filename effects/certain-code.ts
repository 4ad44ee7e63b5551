/** A text with its code taken out, each piece behind a mark, so that what is left can be read as prose. */
export type MaskedText = { prose: string; restore(prose: string): string }

/** No character of Unicode: no text has it for a meaning, and the filter takes it out before it puts its own in. */
export const codeMark = '\ufdd0'

/**
 * The code of a Markdown text as far as its lines alone prove it; null when they do not. A line of backticks is a fence for
 * one parser and prose for another when it stands in a list, a quote or behind a backslash: what the text means is then in
 * doubt, and nothing of it may be spared for being code. So it is where something that is read before code is, such as an
 * address, may take a backtick for itself: all that is code behind it would be prose, and the reverse.
 */
export function maskCode(text: string): MaskedText | null {
  if (longRun.test(text)) return null
  const code: string[] = []
  const mask = (piece: string) => `${codeMark}${code.push(piece) - 1}${codeMark}`
  const lines = text.split('\n')
  const tables = lines.some(line => delimiterRow.test(line) && line.includes('-') && /[|:]/.test(line))
  const masked: string[] = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const end = endOfFence(lines, at)
    if (end !== null) {
      masked.push(mask(lines.slice(at, end + 1).join('\n')))
      at = end
      continue
    }
    const spans = fenceLike.test(line) ? null : maskSpans(line, tables, mask)
    if (spans === null) return null
    masked.push(spans)
  }
  const prose = masked.join('\n')
  if (mayTakeBacktick(prose) || mayBeMath(prose, code, '$') || mayBeMath(prose, code, '$$')) return null
  return { prose, restore: text => text.replace(marked, (_, index) => code[Number(index)] ?? '') }
}

const marked = new RegExp(`${codeMark}(\\d+)${codeMark}`, 'g')
/** cmark takes one of more than 80 backticks for no code, and counts those of a fence up to 255 only. */
const longRun = /`{65}|~{65}/
const delimiterRow = /^[\s>|:*+\-\d.)]+$/
/** Could open a fence inside a quote, a list or a footnote, where lines alone do not say what ends it. */
const fenceLike = /^(?:[\s>*+\-\d.)]|\[\^[^\]\n]*\]:)*(?:`{3,}|~{3,})/
/** What GitHub draws instead of showing it as code is none, and a language that is spelled with entities may be one of those. */
const opening = /^( {0,3})(`{3,}(?=[^`&\\]*$)|~{3,}(?=[^&\\]*$))(?!.*(?:mermaid|math|geojson|topojson|stl|suggestion))/i
const blank = /^[ \t]*$/
/** What nobody sees may be taken out by whoever reads the line, and then it closes a fence. */
const unseen = String.raw`[\s\p{C}\p{Default_Ignorable_Code_Point}]*`

/**
 * The line that closes the fence of this one, or null. Each line between is indented at least as far: in a list one that is
 * not would end the item, and the fence with it. A line that might close it in one place and not in another is doubt too.
 */
function endOfFence(lines: readonly string[], start: number): number | null {
  const [, indent = '', fence = ''] = opening.exec(lines[start] ?? '') ?? []
  if (fence === '') return null
  const run = `${fence[0]}{${fence.length},}`
  const [mayClose, closes] = [new RegExp(`^${unseen}${run}${unseen}$`, 'u'), new RegExp(`^ {0,3}${run}[ \\t]*$`)]
  for (let at = start + 1; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const own = line.length - line.replace(/^ +/, '').length
    if (!blank.test(line) && own < indent.length) return null
    if (mayClose.test(line)) return closes.test(line) ? at : null
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

/**
 * Whether an address, or the label, destination or title of a link, may begin in this prose and go on in what was taken for
 * code. Only a form that surely ends before any code is without doubt. An address may go on over what most take for a blank.
 */
function mayTakeBacktick(prose: string): boolean {
  if (!prose.includes(codeMark)) return false
  if (openLink.test(prose) || openLabel.test(prose)) return true
  return prose.split(/[ \t\n]/).some(word => {
    const start = word.search(/<|:\/\/|www\.|mailto:|xmpp:/i)
    return start >= 0 && word.includes(codeMark, start)
  })
}

const openLink = new RegExp(
  String.raw`\]\((?!(?:[^\s<>()"'\\${codeMark}]|\([^\s<>()"'\\${codeMark}]*\))*(?:[ \t]+(?:"[^"\\\n${codeMark}]*"|'[^'\\\n${codeMark}]*'))?[ \t]*\))`,
)
/** Of a link by reference, or a footnote. */
const openLabel = new RegExp(String.raw`(?:\]\[|\[\^)(?![^[\]\\\n${codeMark}]*\])`)

/** Whether code stands between two of these signs, of which the second may be in it. No formula in a line goes beyond its paragraph. */
function mayBeMath(prose: string, code: readonly string[], sign: '$' | '$$'): boolean {
  const start = prose.indexOf(sign)
  if (start < 0) return false
  const isFence = (piece: string) => piece.includes('\n')
  const behind = prose.slice(start + sign.length).replace(marked, (_, index) => {
    const piece = code[Number(index)] ?? ''
    return sign === '$' && isFence(piece) ? '' : `${codeMark}${piece}`
  })
  const first = behind.indexOf(codeMark)
  return first >= 0 && behind.includes(sign, first)
}
