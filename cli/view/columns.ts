/** Columns of a terminal that a text takes. Wide and emoji characters take two, combining ones none. */
export function width(text: string): number {
  let columns = 0
  for (const character of text) columns += widthOf(character)
  return columns
}

/** Cut to at most `columnsMax`, with a mark where it was cut, and never in the middle of a character. */
export function cutTo(text: string, columnsMax: number): string {
  if (width(text) <= columnsMax) return text
  let cut = ''
  let columns = 0
  for (const character of text) {
    columns += widthOf(character)
    if (columns > columnsMax - 1) break
    cut += character
  }
  return columnsMax > 0 ? `${cut}…` : ''
}

export function pad(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - width(text)))
}

function widthOf(character: string): number {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x300) return 1
  if (/^\p{M}$/u.test(character)) return 0
  return isWide(code) || /^\p{Emoji_Presentation}$/u.test(character) ? 2 : 1
}

function isWide(code: number): boolean {
  return wideRanges.some(([from, to]) => code >= from && code <= to)
}

/** East Asian wide and full-width blocks. */
const wideRanges = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f300, 0x1f64f],
  [0x1f900, 0x1f9ff],
  [0x20000, 0x3fffd],
] as const
