import { escapeLines, escapeShort, withoutSecrets } from '../../telemetry/index.ts'
import { pagesLimits } from './limits.ts'

/**
 * A text of others as one line: a name, a command, a title, a reason. Searched for credentials before it is cut, as what we
 * write on GitHub is; what it is made of is made safe where it becomes markup.
 */
export function short(text: string, charactersMax: number = pagesLimits.pageNameCharactersMax): string {
  return escapeShort(withoutSecrets(text.slice(0, charactersMax + pagesLimits.pageSearchedBehindCharacters)), charactersMax)
}

/** `leftOut`: characters of it that are not in `text`. */
export type Cut = { text: string; leftOut: number }

/** The end of a text over several lines, from the beginning of a line where there is one. */
export function endOf(text: string, charactersMax: number): Cut {
  const all = escapeLines(withoutSecrets(text))
  if (all.length <= charactersMax) return { text: all, leftOut: 0 }
  const kept = all.slice(-charactersMax)
  const line = all.at(-charactersMax - 1) === '\n' ? -1 : kept.indexOf('\n')
  return cutOf(all, kept.slice(line + 1))
}

/** The beginning of a text over several lines, up to the end of a line where there is one. */
export function startOf(text: string, charactersMax: number): Cut {
  const all = escapeLines(withoutSecrets(text))
  if (all.length <= charactersMax) return { text: all, leftOut: 0 }
  const line = all.lastIndexOf('\n', charactersMax)
  return cutOf(all, all.slice(0, line > 0 ? line : charactersMax))
}

function cutOf(all: string, text: string): Cut {
  return { text, leftOut: all.length - text.length }
}

/** `2026-12-01 14:03:07`, in UTC. */
export function utc(at: number): string {
  return new Date(at).toISOString().slice(0, 19).replace('T', ' ')
}
