import { domainLimits } from './limits.ts'

/** As a unified diff counts: from 1; of an empty side `start` is the line before. `lines` have their sign. */
type Hunk = { oldStart: number; oldCount: number; newStart: number; newCount: number; lines: readonly string[] }

/** These lines of the head become `text`; without lines they go. */
export type Suggestion = { path: string; startLine: number; endLine: number; text: string[] }

export type SuggestedFile = {
  path: string
  /** The file at the pull request's head and with the change. */
  head: string
  wanted: string
  /** What the pull request changes in it, and what the change does, the latter without context. */
  pull: readonly Hunk[]
  change: readonly Hunk[]
}

/**
 * The change of a file as suggestions on lines that the pull request itself adds, or null where it can not be said so: a
 * person's click must give exactly the bytes that were checked, and take nothing away that the pull request did not bring.
 */
export function suggestionsFor({ path, head, wanted, pull, change }: SuggestedFile): Suggestion[] | null {
  if (![head, wanted].every(isPlain)) return null
  const lines = head.split('\n')
  const own = ownLines(pull)
  const suggestions: Suggestion[] = []
  for (const hunk of change) {
    const suggestion = suggest(path, hunk, lines, own)
    const last = suggestions.at(-1)
    if (suggestion === null || (last && suggestion.startLine <= last.endLine)) return null
    suggestions.push(suggestion)
  }
  return applied(lines, suggestions) === wanted ? suggestions : null
}

/** Whole lines of text that mean the same in a comment as in the file. */
function isPlain(text: string): boolean {
  return text.endsWith('\n') && !/[^\P{Cc}\n\t]/u.test(text)
}

/** Numbers of the lines the pull request adds, as they are at its head. */
function ownLines(hunks: readonly Hunk[]): Set<number> {
  const own = new Set<number>()
  for (const { newStart, lines } of hunks) {
    let number = newStart
    for (const line of lines) {
      if (line.startsWith('+')) own.add(number)
      if (!line.startsWith('-')) number += 1
    }
  }
  return own
}

function suggest(path: string, hunk: Hunk, lines: readonly string[], own: ReadonlySet<number>): Suggestion | null {
  const added = hunk.lines.filter(line => line.startsWith('+')).map(line => line.slice(1))
  const suggestion = hunk.oldCount > 0 ? replaced(hunk, added) : inserted(hunk.oldStart, added, lines, own)
  if (suggestion === null || Math.max(hunk.oldCount, suggestion.text.length) > domainLimits.suggestedLinesMax) return null
  // Another bot would take it for an order, whatever it stands in.
  if (suggestion.text.some(line => /^\s*\/[A-Za-z]/.test(line))) return null
  for (let number = suggestion.startLine; number <= suggestion.endLine; number++) if (!own.has(number)) return null
  return { path, ...suggestion }
}

type Range = Omit<Suggestion, 'path'>

function replaced({ oldStart, oldCount }: Hunk, added: string[]): Range {
  return { startLine: oldStart, endLine: oldStart + oldCount - 1, text: added }
}

/** A suggestion replaces lines: new ones come with a line beside them that stays. */
function inserted(after: number, added: string[], lines: readonly string[], own: ReadonlySet<number>): Range {
  const anchor = own.has(after) ? after : after + 1
  const kept = lines[anchor - 1] ?? ''
  return { startLine: anchor, endLine: anchor, text: anchor === after ? [kept, ...added] : [...added, kept] }
}

/** What a person gets who takes all of them. */
function applied(lines: readonly string[], suggestions: readonly Suggestion[]): string {
  const result = [...lines]
  for (const { startLine, endLine, text } of suggestions.toReversed()) result.splice(startLine - 1, endLine - startLine + 1, ...text)
  return result.join('\n')
}
