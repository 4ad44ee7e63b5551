import { changedLines } from './line-counts.ts'

/**
 * Replaces text in a file's bytes. Matching sees every line end as LF; what is written back keeps each line's own end, and
 * every byte outside the match, so that a file of mixed ends or another encoding stays exact.
 */
export type Replaced =
  | { kind: 'replaced'; content: Uint8Array; count: number; lines: readonly number[]; added: number; removed: number }
  | { kind: 'missing' }
  | { kind: 'several'; count: number; lines: readonly number[] }

/** Line numbers that are named; more are only counted. */
const linesNamedMax = 10
const lf = 0x0a
const cr = 0x0d

export function replaceBytes(content: Uint8Array, oldText: string, newText: string, all: boolean): Replaced {
  const view = foldLineEnds(Buffer.from(content.buffer, content.byteOffset, content.byteLength))
  const needle = Buffer.from(oldText.replaceAll('\r\n', '\n'))
  const replacement = Buffer.from(newText.replaceAll('\r\n', '\n'))
  const starts: number[] = []
  for (let at = view.bytes.indexOf(needle); at >= 0; at = view.bytes.indexOf(needle, at + needle.byteLength)) starts.push(at)
  if (starts.length === 0) return { kind: 'missing' }
  const lines = lineNumbers(view.bytes, starts.slice(0, linesNamedMax))
  if (starts.length > 1 && !all) return { kind: 'several', count: starts.length, lines }
  const changed = changedLines(needle.toString('utf8').split('\n'), replacement.toString('utf8').split('\n'))
  return {
    kind: 'replaced',
    content: fill(content, view, { starts, needle, replacement }),
    count: starts.length,
    lines,
    added: changed.added * starts.length,
    removed: changed.removed * starts.length,
  }
}

type Matches = { starts: readonly number[]; needle: Buffer; replacement: Buffer }

/** One long line may hold a match at every byte, so nothing is made, and nothing looked for, once a match. */
function fill(content: Uint8Array, view: Folded, { starts, needle, replacement }: Matches): Uint8Array {
  // Line ends can only come in with the replacement, as LF or as CRLF.
  const newLines = countOf(replacement)
  const bytes = Buffer.allocUnsafe(content.byteLength + starts.length * Math.max(0, replacement.byteLength + newLines - needle.byteLength))
  const near = openNearestEnds(view)
  let written = 0
  let from = 0
  const put = (part: Uint8Array) => {
    bytes.set(part, written)
    written += part.byteLength
  }
  for (const start of starts) {
    const end = start + needle.byteLength
    put(content.subarray(from, view.raw(start)))
    put(newLines === 0 ? replacement : withLineEnds(view, start, end, needle, replacement, near))
    from = view.raw(end)
  }
  put(content.subarray(from))
  return bytes.subarray(0, written)
}

type Folded = { bytes: Buffer; raw(index: number): number; isCrlf(index: number): boolean }

/** The bytes with CRLF as LF, and the way back: where in the file the byte at an index begins. */
function foldLineEnds(content: Buffer): Folded {
  const removed: number[] = []
  for (let at = content.indexOf(lf); at >= 0; at = content.indexOf(lf, at + 1)) if (at > 0 && content[at - 1] === cr) removed.push(at - 1)
  if (removed.length === 0) return { bytes: content, raw: index => index, isCrlf: () => false }
  const bytes = Buffer.allocUnsafe(content.byteLength - removed.length)
  // By the index of each LF that stood behind a CR, in ascending order: how many CRs are gone up to it.
  const ends = new Uint32Array(removed.length)
  let written = 0
  let from = 0
  for (const [count, at] of removed.entries()) {
    written += content.copy(bytes, written, from, at)
    ends[count] = written
    from = at + 1
  }
  content.copy(bytes, written, from)
  const before = (index: number) => {
    let low = 0
    let high = ends.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((ends[middle] as number) < index) low = middle + 1
      else high = middle
    }
    return low
  }
  return { bytes, raw: index => index + before(index), isCrlf: index => ends[before(index)] === index }
}

/** The new text with line ends: unchanged lines keep theirs, new ones take that of the lines they stand among. */
function withLineEnds(
  view: Folded,
  start: number,
  end: number,
  needle: Buffer,
  replacement: Buffer,
  near: (end: number) => boolean,
): Uint8Array {
  const old = endsWithin(view, start, end)
  const { prefix, suffix } = commonEnds(needle, replacement)
  const total = countOf(replacement)
  const kept = countOf(replacement.subarray(0, prefix))
  const keptAfter = countOf(replacement.subarray(replacement.byteLength - suffix))
  const around = old[Math.min(kept, old.length - 1)] ?? near(end)
  const parts: Uint8Array[] = []
  let from = 0
  let number = 0
  for (let at = replacement.indexOf(lf); at >= 0; at = replacement.indexOf(lf, at + 1)) {
    const crlf = number < kept ? old[number] : number >= total - keptAfter ? old[old.length - (total - number)] : around
    parts.push(replacement.subarray(from, at), crlf ? crlfBytes : lfBytes)
    from = at + 1
    number++
  }
  parts.push(replacement.subarray(from))
  return Buffer.concat(parts)
}

const crlfBytes = Buffer.from('\r\n')
const lfBytes = Buffer.from('\n')

/** For each line end of a range: whether it is CRLF. */
function endsWithin({ bytes, isCrlf }: Folded, start: number, end: number): boolean[] {
  const range = bytes.subarray(start, end)
  const found: boolean[] = []
  for (let at = range.indexOf(lf); at >= 0; at = range.indexOf(lf, at + 1)) found.push(isCrlf(start + at))
  return found
}

/** The end of the line a range stands in, else of the line before, else LF. To be asked in ascending order. */
function openNearestEnds({ bytes, isCrlf }: Folded): (end: number) => boolean {
  let after = -1
  let searched = false
  let last: number | null = null
  return end => {
    if (!searched || (after >= 0 && after < end)) after = bytes.indexOf(lf, end)
    searched = true
    if (after >= 0) return isCrlf(after)
    // Behind the last line end of all: it is the one before every range from here on.
    last ??= bytes.lastIndexOf(lf)
    return last >= 0 && isCrlf(last)
  }
}

function commonEnds(left: Buffer, right: Buffer): { prefix: number; suffix: number } {
  const most = Math.min(left.byteLength, right.byteLength)
  let prefix = 0
  while (prefix < most && left[prefix] === right[prefix]) prefix++
  let suffix = 0
  while (suffix < most - prefix && left[left.byteLength - 1 - suffix] === right[right.byteLength - 1 - suffix]) suffix++
  return { prefix, suffix }
}

function countOf(bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(lf); at >= 0; at = bytes.indexOf(lf, at + 1)) count++
  return count
}

function lineNumbers(bytes: Buffer, starts: readonly number[]): number[] {
  let line = 1
  let from = 0
  return starts.map(start => {
    line += countOf(bytes.subarray(from, start))
    from = start
    return line
  })
}
