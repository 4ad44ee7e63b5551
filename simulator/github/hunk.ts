import type { Place, Side } from './state.ts'

type HunkLine = { left: number | null; right: number | null; position: number; text: string }
export type Hunk = { head: string; lines: HunkLine[] }

/** Reads a file's patch. Positions count the lines below its first hunk head, later heads among them. */
export function parsePatch(patch: string): Hunk[] {
  const hunks: Hunk[] = []
  let [left, right] = [0, 0]
  for (const [position, text] of patch.split('\n').entries()) {
    const head = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(text)
    if (head) {
      left = Number(head[1])
      right = Number(head[2])
      hunks.push({ head: text, lines: [] })
      continue
    }
    const sign = text[0]
    // "\ No newline at end of file" is a line of the diff and of neither file.
    const onLeft = sign === ' ' || sign === '-'
    const onRight = sign === ' ' || sign === '+'
    hunks.at(-1)?.lines.push({ left: onLeft ? left++ : null, right: onRight ? right++ : null, position, text })
  }
  return hunks
}

export type Found = { hunk: Hunk; at: number }

export function findLine(hunks: readonly Hunk[], side: Side, line: number): Found | null {
  return find(hunks, each => (side === 'LEFT' ? each.left : each.right) === line)
}

/** A position names the line on the side it was deleted from, or else where it is now. */
export function findPosition(hunks: readonly Hunk[], position: number): Found | null {
  return find(hunks, each => each.position === position && (each.left !== null || each.right !== null))
}

function find(hunks: readonly Hunk[], fits: (line: HunkLine) => boolean): Found | null {
  for (const hunk of hunks) {
    const at = hunk.lines.findIndex(fits)
    if (at >= 0) return { hunk, at }
  }
  return null
}

export function placeOf({ hunk, at }: Found, side?: Side): Place {
  const line = hunk.lines[at]
  if (!line) throw new Error('no such line in the hunk')
  const chosen = side ?? (line.right === null ? 'LEFT' : 'RIGHT')
  return {
    line: (chosen === 'LEFT' ? line.left : line.right) ?? 0,
    side: chosen,
    startLine: null,
    startSide: null,
    position: line.position,
  }
}

/** The part of the diff GitHub shows above a comment: from the hunk's head down to its line. */
export function excerptOf({ hunk, at }: Found): string {
  return [hunk.head, ...hunk.lines.slice(0, at + 1).map(each => each.text)].join('\n')
}

/** The text with what a hunk shows of its new side put where it says it is. */
export function overlayHunk(text: string, hunk: string): string {
  const lines = text.split('\n')
  for (const { right, text: shown } of parsePatch(hunk).flatMap(each => each.lines)) {
    if (right === null) continue
    while (lines.length < right) lines.push('')
    lines[right - 1] = shown.slice(1)
  }
  const whole = lines.join('\n')
  return whole.endsWith('\n') ? whole : `${whole}\n`
}
