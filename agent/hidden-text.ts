import { findVisibleCode, type VisibleCode } from './visible-code.ts'

/**
 * Text a person reading the issue on GitHub does not see, but a model would: taken out, counted, reported. What GitHub
 * shows stays as it is.
 */
export type HiddenText = { visible: string; removed: readonly { kind: HiddenKind; count: number }[] }

type HiddenKind =
  | 'html-comment'
  | 'link-comment'
  | 'zero-width'
  | 'bidi-control'
  | 'tag-character'
  | 'variation-selector'
  | 'control-character'

/** In this order: a comment may hold the rest, and a zero-width character may split a comment's mark. */
const characters: readonly { kind: HiddenKind; pattern: RegExp }[] = [
  { kind: 'tag-character', pattern: /[\u{e0000}-\u{e007f}]/gu },
  { kind: 'bidi-control', pattern: /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu },
  // U+200D joins emoji: between two pictographs it is seen, anywhere else it hides.
  {
    kind: 'zero-width',
    pattern:
      /\u034f|[\u00ad\u115f\u1160\u180e\u200b\u200c\u2060-\u2064\u206a-\u206f\u3164\ufeff\uffa0]|(?<!\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?)\u200d|\u200d(?!\p{Extended_Pictographic})/gu,
  },
  // One after a character chooses its look; a row of them carries bytes.
  {
    kind: 'variation-selector',
    pattern: /(?<=[\ufe00-\ufe0f\u{e0100}-\u{e01ef}])[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]|[\u{e0100}-\u{e01ef}]/gu,
  },
  // biome-ignore lint/suspicious/noControlCharactersInRegex: taking them out is what this is for.
  { kind: 'control-character', pattern: /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/gu },
]

/** `[//]: # (text)` and its kin: a link definition whose title nobody is shown. */
const linkComment = /^ {0,3}\[[^\]\n]*\]:[ \t]*(?:#|<#?>|<>)[ \t]*(?:\([^)\n]*\)|"[^"\n]*"|'[^'\n]*')[ \t]*$/
const opening = '<!--'
const closing = '-->'

/** Taking one comment out may put another together. What is still there after so many passes is taken out with all behind it. */
const passesMax = 8

export async function removeHiddenText(text: string): Promise<HiddenText> {
  const removed = new Map<HiddenKind, number>()
  const note = (kind: HiddenKind) => void removed.set(kind, (removed.get(kind) ?? 0) + 1)
  let visible = text
  for (const { kind, pattern } of characters) {
    visible = visible.replace(pattern, () => {
      note(kind)
      return ''
    })
  }
  for (let pass = 1; visible.includes(opening); pass++) {
    const before = visible
    visible = removeComments(before, await findVisibleCode(before), pass === passesMax, () => note('html-comment'))
    if (visible === before) break
  }
  if (/^ {0,3}\[[^\]\n]*\]:/m.test(visible))
    visible = removeLinkComments(visible, await findVisibleCode(visible), () => note('link-comment'))
  return { visible, removed: [...removed].map(([kind, count]) => ({ kind, count })) }
}

/** A comment that begins in code is shown and stays; one that is never closed hides everything behind it. */
function removeComments(text: string, code: VisibleCode, last: boolean, note: () => void): string {
  let kept = ''
  let from = 0
  for (let at = text.indexOf(opening); at >= 0; at = text.indexOf(opening, from)) {
    const shownTo = endOfCode(text, at, code)
    if (shownTo !== null) {
      kept += text.slice(from, shownTo)
      from = shownTo
      continue
    }
    note()
    kept += text.slice(from, at)
    // The shortest comments of HTML, `<!-->` and `<!--->`, close on the dashes they open with.
    const end = last ? -1 : text.indexOf(closing, at + 2)
    from = end < 0 ? text.length : end + closing.length
  }
  return kept + text.slice(from)
}

/** Where the code that a place stands in ends, or null. */
function endOfCode(text: string, at: number, code: VisibleCode): number | null {
  if (code.lines.has(text.slice(0, at).split('\n').length - 1)) return at + opening.length
  return code.spans.find(span => span.from <= at && at < span.to)?.to ?? null
}

function removeLinkComments(text: string, code: VisibleCode, note: () => void): string {
  const lines = text.split('\n').map((line, number) => {
    if (code.lines.has(number) || !linkComment.test(line.replace(/\r$/, ''))) return line
    note()
    return ''
  })
  return lines.join('\n')
}
