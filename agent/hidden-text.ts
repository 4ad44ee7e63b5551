/**
 * Text a person reading the issue on GitHub does not see, but a model would: taken out, counted, reported. What GitHub
 * shows stays as it is.
 */
export type HiddenText = { visible: string; removed: readonly { kind: HiddenKind; count: number }[] }

export type HiddenKind =
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

const comments: readonly { kind: HiddenKind; pattern: RegExp }[] = [
  // An unclosed comment hides everything behind it.
  { kind: 'html-comment', pattern: /<!--[\s\S]*?(?:-->|$)/g },
  // `[//]: # (text)` and its kin: a link definition whose title nobody is shown.
  { kind: 'link-comment', pattern: /^ {0,3}\[[^\]\n]*\]:[ \t]*(?:#|<#?>|<>)[ \t]*(?:\([^)\n]*\)|"[^"\n]*"|'[^'\n]*')[ \t]*$/gm },
]

export function removeHiddenText(text: string): HiddenText {
  const removed = new Map<HiddenKind, number>()
  let visible = text
  for (const { kind, pattern } of [...characters, ...comments]) {
    visible = visible.replace(pattern, () => {
      removed.set(kind, (removed.get(kind) ?? 0) + 1)
      return ''
    })
  }
  return { visible, removed: [...removed].map(([kind, count]) => ({ kind, count })) }
}
