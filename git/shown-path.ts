import { isUtf8 } from 'node:buffer'

/**
 * Git paths are bytes; events, comments and tools hold text. `showPath` keeps valid UTF-8 as it is and writes every other
 * byte as `\xNN`; a real backslash that would read like such an escape becomes `\x5c`, so that `pathBytes` always gets the
 * same bytes back.
 */
export function showPath(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return isUtf8(buffer) ? hideBackslashes(buffer.toString('utf8')) : decodePieces(buffer)
}

export function pathBytes(shown: string): Buffer {
  const parts: Buffer[] = []
  let from = 0
  for (const match of shown.matchAll(/\\x([0-9a-f]{2})/g)) {
    parts.push(Buffer.from(shown.slice(from, match.index), 'utf8'), Buffer.from(match[1] as string, 'hex'))
    from = match.index + match[0].length
  }
  parts.push(Buffer.from(shown.slice(from), 'utf8'))
  return Buffer.concat(parts)
}

function hideBackslashes(text: string): string {
  return text.includes('\\x') ? text.replaceAll(/\\(?=x[0-9a-f]{2})/g, '\\x5c') : text
}

/** Takes the longest valid sequence at each place; a byte that starts none is escaped. */
function decodePieces(buffer: Buffer): string {
  let shown = ''
  let valid: number[] = []
  const flush = () => {
    shown += hideBackslashes(Buffer.from(valid).toString('utf8'))
    valid = []
  }
  for (let at = 0; at < buffer.length; ) {
    const length = sequenceLength(buffer, at)
    if (length === 0) {
      flush()
      shown += `\\x${(buffer[at] as number).toString(16).padStart(2, '0')}`
      at += 1
    } else {
      for (let i = 0; i < length; i++) valid.push(buffer[at + i] as number)
      at += length
    }
  }
  flush()
  return shown
}

/** The length of the well-formed UTF-8 character at `at` (Unicode table 3-7), or 0. */
function sequenceLength(buffer: Buffer, at: number): number {
  const lead = buffer[at] as number
  if (lead < 0x80) return 1
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2
  if (lead < 0xc2 || lead > 0xf4) return 0
  const [low, high] = secondByte[lead] ?? [0x80, 0xbf]
  const second = buffer[at + 1] ?? 0
  if (second < low || second > high) return 0
  for (let next = 2; next < length; next++) if (((buffer[at + next] ?? 0) & 0xc0) !== 0x80) return 0
  return length
}

/** Leads whose second byte is narrower than 80..BF: no overlong forms, no surrogates, nothing above U+10FFFF. */
const secondByte: Record<number, readonly [number, number]> = { 224: [0xa0, 0xbf], 237: [0x80, 0x9f], 240: [0x90, 0xbf], 244: [0x80, 0x8f] }
