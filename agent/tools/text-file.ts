import { isUtf8 } from 'node:buffer'

/** What a file's bytes are, as far as a text tool must know. */
export type TextFile =
  | { kind: 'text'; text: string; ends: LineEnds; invalidSequences: boolean; bom: boolean }
  | { kind: 'binary'; what: string }
  | { kind: 'lfs-pointer'; size: string }

type LineEnds = 'LF' | 'CRLF' | 'mixed' | 'none'

const sniffBytes = 8_192
const nonPrintablePercentMax = 30
const lfsPointerBytesMax = 1_024

const signatures: readonly { what: string; bytes: readonly number[] }[] = [
  { what: 'a PNG image', bytes: [0x89, 0x50, 0x4e, 0x47] },
  { what: 'a JPEG image', bytes: [0xff, 0xd8, 0xff] },
  { what: 'a GIF image', bytes: [0x47, 0x49, 0x46, 0x38] },
  { what: 'a PDF document', bytes: [0x25, 0x50, 0x44, 0x46, 0x2d] },
  { what: 'a ZIP archive', bytes: [0x50, 0x4b, 0x03, 0x04] },
  { what: 'a gzip archive', bytes: [0x1f, 0x8b] },
  { what: 'an ELF program', bytes: [0x7f, 0x45, 0x4c, 0x46] },
  { what: 'a WebAssembly module', bytes: [0x00, 0x61, 0x73, 0x6d] },
]

export function readTextFile(content: Uint8Array): TextFile {
  const signature = signatures.find(row => row.bytes.every((byte, index) => content[index] === byte))
  if (signature) return { kind: 'binary', what: signature.what }
  const pointer = lfsPointer(content)
  if (pointer !== null) return { kind: 'lfs-pointer', size: pointer }
  if (looksBinary(content.subarray(0, sniffBytes))) return { kind: 'binary', what: 'a binary file' }
  const bom = content[0] === 0xef && content[1] === 0xbb && content[2] === 0xbf
  const body = bom ? content.subarray(3) : content
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(body)
  return { kind: 'text', text, ends: lineEnds(content), invalidSequences: !isUtf8(body), bom }
}

function looksBinary(head: Uint8Array): boolean {
  let odd = 0
  // By index: an iterator of a typed array takes twenty times as long.
  for (let index = 0; index < head.byteLength; index++) {
    const byte = head[index] as number
    if (byte === 0) return true
    // Bytes above 0x7f may be any encoding's letters; only control codes that no text has are counted.
    if (byte < 0x07 || (byte > 0x0d && byte < 0x20 && byte !== 0x1b) || byte === 0x7f) odd++
  }
  return odd * 100 > head.byteLength * nonPrintablePercentMax
}

/** The size a Git LFS pointer names, or null. Its real content is not here, so its text is nothing to read or edit. */
function lfsPointer(content: Uint8Array): string | null {
  if (content.byteLength > lfsPointerBytesMax) return null
  const text = Buffer.from(content).toString('latin1')
  if (!text.startsWith('version https://git-lfs.github.com/spec/v1\n')) return null
  return /^size (\d+)$/m.exec(text)?.[1] ?? 'unknown'
}

function lineEnds(content: Uint8Array): LineEnds {
  let lf = 0
  let crlf = 0
  for (let index = content.indexOf(0x0a); index >= 0; index = content.indexOf(0x0a, index + 1)) {
    if (index > 0 && content[index - 1] === 0x0d) crlf++
    else lf++
  }
  if (lf + crlf === 0) return 'none'
  return crlf === 0 ? 'LF' : lf === 0 ? 'CRLF' : 'mixed'
}
