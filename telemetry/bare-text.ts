import { telemetryLimits } from './limits.ts'

/** Letters in one case and digits, and nothing of what somebody may have put between them. */
export function bareOf(text: string, escapes: 'as they are' | 'read' = 'as they are'): string {
  const kept = Buffer.allocUnsafe(text.length)
  let length = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const mayEscape = escapes === 'read' && (code === backslash || code === percent || code === ampersand)
    const read = mayEscape ? readEscape(text, at) : null
    const bare = bareCodes[read?.code ?? code] ?? 0
    if (bare !== 0) kept[length++] = bare
    if (read !== null) at = read.end - 1
  }
  return kept.toString('latin1', 0, length)
}

/**
 * The bare text, and where it has escapes that with them read, too, in pieces of which each begins with the end of the one
 * before: whatever is `overlap` characters long at most is whole in one of them.
 */
export function* barePieces(text: string, overlap: number): Generator<string> {
  for (const escapes of anyEscape.test(text) ? (['as they are', 'read'] as const) : (['as they are'] as const)) {
    let tail = ''
    for (let at = 0; at < text.length; ) {
      const end = endOfPiece(text, at)
      const piece = tail + bareOf(text.slice(at, end), escapes)
      yield piece
      tail = piece.slice(-overlap)
      at = end
    }
  }
}

const [backslash, percent, ampersand] = [0x5c, 0x25, 0x26]
const anyEscape = /\\[ux0-7]|%[u0-9a-f]|&#/i
const bareCodes = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code)
  return /[A-Za-z0-9]/.test(character) ? character.toLowerCase().charCodeAt(0) : 0
})

/** How a character is written by its number in JSON and JavaScript, C, addresses and HTML: what begins it, the base, and how many digits. */
const escapeForms = [
  { start: '\\u{', base: 16, least: 1, most: 6 },
  { start: '\\u', base: 16, least: 4, most: 4 },
  { start: '\\x', base: 16, least: 2, most: 2 },
  { start: '\\', base: 8, least: 2, most: 3 },
  { start: '%u', base: 16, least: 4, most: 4 },
  { start: '%', base: 16, least: 2, most: 2 },
  { start: '&#x', base: 16, least: 1, most: 8 },
  { start: '&#X', base: 16, least: 1, most: 8 },
  { start: '&#', base: 10, least: 1, most: 8 },
]
const longestEscape = 16

function readEscape(text: string, at: number): { code: number; end: number } | null {
  for (const { start, base, least, most } of escapeForms) {
    if (!text.startsWith(start, at)) continue
    const from = at + start.length
    let [code, end] = [0, from]
    for (; end - from < most; end++) {
      const digit = Number.parseInt(text.charAt(end), base)
      if (Number.isNaN(digit)) break
      code = code * base + digit
    }
    if (end - from >= least) return { code, end }
  }
  return null
}

/** Not within an escape. */
function endOfPiece(text: string, start: number): number {
  const end = Math.min(start + telemetryLimits.barePieceCharacters, text.length)
  for (let at = end - 1; at > start && at > end - longestEscape; at--) {
    if (end < text.length && /[\\%&]/.test(text.charAt(at))) return at
  }
  return end
}
