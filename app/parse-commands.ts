import MarkdownIt, { type Token } from 'markdown-it'
import type { WrittenCommand } from '../domain/index.ts'

export type ParseOptions = { prefix: string; slug: string | null; commandsMax: number; textBytesMax: number }

// HTML is switched on so that it is recognised as HTML, and so stays inert, instead of being read as prose.
const markdown = new MarkdownIt('commonmark', { html: true })

/**
 * The commands of one comment, in order, duplicates dropped. A command stands at the start of a line of a top-level
 * paragraph; in quotes, lists, code, HTML and link texts it is inert. Its text runs to the next command or the end.
 */
export function parseCommands(comment: string, options: ParseOptions): { commands: WrittenCommand[]; dropped: number } {
  const lines = normalise(comment).split('\n')
  const starts = commandLines(lines, options)
  const written = starts.map(({ line, rest }, index) => {
    const next = starts[index + 1]?.line ?? lines.length
    const following = lines.slice(line + 1, next).join('\n')
    const [word = '', ...behind] = rest.split(/[\s,;:]+/u).filter(part => part !== '')
    const text = cut(
      [behind.length > 0 ? rest.slice(rest.indexOf(word) + word.length).trim() : '', following.trim()].filter(Boolean).join('\n'),
      options.textBytesMax,
    )
    return { word: word || 'help', text }
  })
  const seen = new Set<string>()
  const different = written.filter(({ word, text }) => {
    const key = `${word.toLowerCase()}\n${text}`
    return seen.has(key) ? false : seen.add(key)
  })
  const commands = different.slice(0, options.commandsMax).map((command, index) => ({ index, ...command }))
  return { commands, dropped: different.length - commands.length }
}

/** Line ends of every kind become \n; Unicode spaces become plain ones; tabs after the prefix count as space anyway. */
function normalise(comment: string): string {
  return withoutSignature(comment.replace(/\r\n|\r|\u2028|\u2029/g, '\n').replaceAll(mark, '')).replace(
    /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/g,
    ' ',
  )
}

/** What a mail program puts below an answer would make a heading of it. In a block of code, as of a patch, it is none. */
function withoutSignature(comment: string): string {
  const lines = comment.split('\n')
  let fence: string | null = null
  for (const [index, line] of lines.entries()) {
    const marks = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (fence === null) {
      if (index > 0 && line === '-- ') return `${lines.slice(0, index).join('\n')}\n`
      fence = marks ?? null
    } else if (marks?.startsWith(fence)) fence = null
  }
  return comment
}

type Start = { line: number; rest: string }

/**
 * Where a parser says that a line begins with plain prose can not be read off its tokens (a code span hides its line
 * breaks), so each candidate is marked with a character that means nothing in CommonMark, and looked for after the parse.
 */
function commandLines(lines: readonly string[], options: ParseOptions): Start[] {
  const pattern = prefixPattern(options)
  const candidates = lines.flatMap((text, line) => {
    const match = pattern.exec(text)
    return match ? [{ line, rest: match[2] ?? '', indent: match[1] ?? '' }] : []
  })
  if (candidates.length === 0) return []
  const marked = lines.slice()
  for (const { line, indent } of candidates) marked[line] = `${indent}${mark}${line}${mark}${(lines[line] ?? '').slice(indent.length)}`
  const prose = proseMarks(markdown.parse(marked.join('\n'), {}))
  return candidates.filter(({ line }) => prose.has(line))
}

const mark = '\ue000'

/** The marks that stand at the start of a line of a top-level paragraph, outside of every element, and of formulas. */
function proseMarks(tokens: readonly Token[]): Set<number> {
  const marks = new Set<number>()
  let elementsOpen = 0
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'html_block') elementsOpen = Math.max(0, elementsOpen + openedBy(token.content))
    if (token.type !== 'paragraph_open' || token.level !== 0) continue
    const { children, content = '' } = tokens[index + 1] ?? {}
    const isInert = elementsOpen > 0 || /^[^\S\n]*\$\$/m.test(content)
    // One that is opened in the middle of prose may go on over what follows.
    elementsOpen = Math.max(
      0,
      elementsOpen + openedBy((children ?? []).map(child => (child.type === 'html_inline' ? child.content : '')).join('')),
    )
    if (isInert) continue
    let depth = 0
    let atStart = true
    for (const child of children ?? []) {
      const found = atStart && depth === 0 && child.type === 'text' ? /^\ue000(\d+)\ue000/.exec(child.content) : null
      if (found) marks.add(Number(found[1]))
      atStart = child.type === 'softbreak' || child.type === 'hardbreak' || (atStart && child.content === '' && child.type === 'text')
      depth += child.nesting
    }
  }
  return marks
}

function prefixPattern({ prefix, slug }: ParseOptions): RegExp {
  const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')
  const names = [literal(prefix), ...(slug ? [`@${literal(slug)}`] : [])]
  return new RegExp(`^( {0,3})(?:${names.join('|')})(?=[\\s,;:]|$)(.*)$`, 'iu')
}

/**
 * Elements that HTML leaves open: the ones that have no end are none of them, and a comment's are no elements. Its parts are
 * looked ahead for, so that none is read twice: what people write is read before anything is known of them.
 */
function openedBy(html: string): number {
  let open = 0
  for (const [, end, name = '', rest] of html
    .replace(/<!--[\s\S]*?(?:-->|$)/g, '')
    .matchAll(/<(\/?)(?=([a-z][a-z\d-]*))\2(?=([^<>]*))\3>/gi)) {
    if (rest?.endsWith('/') || endless.has(name.toLowerCase())) continue
    open += end ? -1 : 1
  }
  return open
}

const endless = new Set(['br', 'hr', 'img', 'input', 'source', 'wbr', 'col', 'li', 'dt', 'dd', 'td', 'th', 'tr'])

function cut(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text)
  return bytes.length <= bytesMax
    ? text
    : bytes
        .subarray(0, bytesMax)
        .toString('utf8')
        .replace(/\ufffd$/, '')
}
