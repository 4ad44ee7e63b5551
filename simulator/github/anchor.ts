import type { ChangedPath } from './changed-path.ts'
import { excerptOf, type Found, findLine, findPosition, parsePatch, placeOf } from './hunk.ts'
import type { Place, ReviewComment, Side } from './state.ts'

export type AnchorWish = {
  path: string
  line?: number | undefined
  side?: Side | undefined
  startLine?: number | undefined
  startSide?: Side | undefined
  position?: number | undefined
  subject?: 'line' | 'file' | undefined
}

export type Anchor = Pick<ReviewComment, 'path' | 'subject' | 'diffHunk'> & { place: Place }
export type AnchorProblem = 'path' | 'no line' | 'line' | 'position' | 'start after line' | 'start in another hunk'

/** Where a comment hangs in a diff, or what GitHub finds wrong with what was asked. */
export function findAnchor(files: readonly ChangedPath[], wish: AnchorWish): Anchor | AnchorProblem {
  const file = files.find(each => each.filename === wish.path)
  // A renamed file goes by its new name alone.
  if (!file) return 'path'
  const { path } = wish
  if (wish.subject === 'file') {
    return { path, subject: 'file', diffHunk: '', place: { line: 1, side: 'RIGHT', startLine: null, startSide: null, position: 1 } }
  }
  const hunks = parsePatch(file.patch ?? '')
  if (wish.line === undefined) {
    if (wish.position === undefined) return 'no line'
    const found = findPosition(hunks, wish.position)
    return found ? { path, subject: 'line', diffHunk: excerptOf(found), place: placeOf(found) } : 'position'
  }
  const side = wish.side ?? 'RIGHT'
  const found = findLine(hunks, side, wish.line)
  if (!found) return 'line'
  const place = placeOf(found, side)
  const whole: Anchor = { path, subject: 'line', diffHunk: excerptOf(found), place }
  if (wish.startLine === undefined) return whole
  const startSide = wish.startSide ?? side
  if (startSide === side && wish.startLine >= wish.line) return 'start after line'
  const start = findLine(hunks, startSide, wish.startLine)
  if (!start || start.hunk !== found.hunk) return 'start in another hunk'
  if (start.at >= found.at) return 'start after line'
  return { ...whole, place: { ...place, startLine: wish.startLine, startSide } }
}

/** Finds a place of an older commit again in the newest diff; null when its line was changed or left the diff. */
export function movePlace(files: readonly ChangedPath[], comment: ReviewComment, from: Place, lineNow: number | null): Place | null {
  const file = files.find(each => each.filename === comment.path)
  if (!file) return null
  if (comment.subject === 'file') return from
  const found: Found | null = lineNow === null ? null : findLine(parsePatch(file.patch ?? ''), from.side, lineNow)
  if (!found || lineNow === null) return null
  const startLine = from.startLine === null ? null : from.startLine + lineNow - from.line
  return { ...placeOf(found, from.side), startLine, startSide: from.startSide }
}
