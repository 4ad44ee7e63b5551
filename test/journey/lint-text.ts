import MarkdownIt from 'markdown-it'
import type { Text } from './seen.ts'

const markdown = new MarkdownIt('commonmark', { html: true }).enable('table')
const proseWordsMax = 150
const foldLinesMax = 25
/** By what the text is: a reader of mail sees the first of it. */
/** Of what tells how a run goes, above the first fold. */
const progressLinesMax = 12
const linesMax: Partial<Record<Text['surface'], number>> = { comment: 60, 'pull request': 120, remark: 40 }
const vagueLinks = new Set(['here', 'link', 'this', 'click here', ''])

/** What is wrong with one of our texts, as sentences; empty = nothing. */
export function lintText({ surface, body }: Text): string[] {
  const faults: string[] = []
  const lines = body.split('\n')
  const markers = lines.flatMap((line, index) => (line.startsWith('<!-- grokbot:') ? [index] : []))
  if (surface !== 'check run' && surface !== 'remark' && (markers.length !== 1 || markers[0] !== 0))
    faults.push(`the marker stands in lines ${markers.join(', ') || 'none'}, not once and first`)
  if (surface === 'check run' && markers.length > 0) faults.push('a check run has no marker')
  if (lines.length > (linesMax[surface] ?? Number.POSITIVE_INFINITY)) faults.push(`${lines.length} lines`)
  if (/\p{Extended_Pictographic}/u.test(body)) faults.push('an emoji')
  if (lines[0]?.includes(' kind=progress ')) {
    const told = (body.split('<details>')[0] ?? '').trim().split('\n').slice(1)
    if (told.length > progressLinesMax) faults.push(`${told.length} lines of progress`)
  }
  faults.push(...lintBlocks(body), ...lintFold(surface, body))
  return faults
}

/** What the Markdown comes out as: what a screen reader gets. */
function lintBlocks(body: string): string[] {
  const faults: string[] = []
  let columns = 0
  for (const token of markdown.parse(body, {})) {
    if (token.type === 'heading_open' && Number(token.tag.slice(1)) < 4) faults.push(`a heading ${token.tag}`)
    if (token.type === 'tr_open') columns = 0
    if (token.type === 'th_open' && ++columns > 4) faults.push('a table of more than 4 columns')
    if (token.type === 'fence' && token.map && !isClosed(body, token.map[1], token.markup)) faults.push('a fence that is not closed')
    for (const child of token.children ?? []) if (child.type === 'image') faults.push('an image')
    faults.push(...lintLinks(token.children ?? []))
  }
  const open = body.match(/<details>/g)?.length ?? 0
  if (open !== (body.match(/<\/details>/g)?.length ?? 0)) faults.push('a <details> that is not closed')
  if (/<\/summary>\n(?!\n)/.test(body)) faults.push('no empty line behind </summary>')
  return faults
}

function isClosed(body: string, endLine: number, markup: string): boolean {
  return (body.split('\n')[endLine - 1] ?? '').trim().replace(/^>\s*/, '').startsWith(markup)
}

function lintLinks(children: readonly { type: string; content: string }[]): string[] {
  const faults: string[] = []
  for (const [index, { type }] of children.entries()) {
    if (type !== 'link_open') continue
    const end = children.findIndex((child, at) => at > index && child.type === 'link_close')
    const words = children
      .slice(index + 1, end)
      .map(({ content }) => content)
      .join('')
    if (vagueLinks.has(words.trim().toLowerCase())) faults.push(`a link that says only “${words}”`)
    if (/^https?:\/\//.test(words)) faults.push('a bare link')
  }
  return faults
}

/** Above the first fold: lines, and words of prose (tables, quotes and code are none). */
function lintFold(surface: Text['surface'], body: string): string[] {
  if (surface !== 'pull request') return []
  const above = body.split('<details>')[0] ?? ''
  const faults: string[] = []
  const lines = above.trim().split('\n')
  if (lines.length > foldLinesMax) faults.push(`${lines.length} lines above the fold`)
  const words = lines
    .filter(line => !/^[|>]/.test(line))
    .join(' ')
    .split(/\s+/).length
  if (words > proseWordsMax) faults.push(`${words} words of prose above the fold`)
  return faults
}
