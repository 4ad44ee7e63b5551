/**
 * The one function that foreign text passes before a terminal or a reader of a page sees it: titles, file names, commands,
 * outputs, model text, messages of other programs. Whatever a terminal could take for an order, or a reader for other text
 * than is there (control characters, invisible formatting, bidirectional overrides, lone surrogates), is shown as `\u{…}`.
 */
export function escapeText(text: string): string {
  return text.replace(unsafe, asEscape)
}

/** As `escapeText`, with the line structure kept: for outputs that are shown over several lines. */
export function escapeLines(text: string): string {
  return text
    .split(/\r\n|\n|\r(?=\n|$)/)
    .map(escapeText)
    .join('\n')
}

/** One line of at most `charactersMax` characters: what is cut is marked. */
export function escapeShort(text: string, charactersMax: number): string {
  const line = escapeText(text.replace(/\s+/gu, ' ').trim())
  return line.length <= charactersMax ? line : `${line.slice(0, Math.max(0, charactersMax - 1))}…`
}

/**
 * A value as JSON of one line that is also safe to look at. JSON itself escapes only the first 32 characters; the rest of
 * the unsafe ones are written as JSON escapes, so the value read back is the same.
 */
export function toSafeJson(value: unknown): string {
  return JSON.stringify(value).replace(unsafe, character =>
    Array.from({ length: character.length }, (_, unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`).join(''),
  )
}

/** Cc, Cf, line and paragraph separators, surrogates without a partner, private use, and the blank Hangul and Braille letters. */
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]/gu

function asEscape(character: string): string {
  return character === '\t' ? ' ' : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
}
