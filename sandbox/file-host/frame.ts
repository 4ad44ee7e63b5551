/**
 * What goes between the worker and a file host: `length of the header` and `length of the body`, four bytes each, then a
 * small JSON header, then raw bytes. A file's content is never encoded.
 */
export type Frame = { header: Record<string, unknown>; body: Buffer }

const prefixBytes = 8

export function encodeFrame(header: Record<string, unknown>, body: Uint8Array = new Uint8Array(0)): Buffer {
  const head = Buffer.from(JSON.stringify(header), 'utf8')
  const prefix = Buffer.alloc(prefixBytes)
  prefix.writeUInt32BE(head.byteLength, 0)
  prefix.writeUInt32BE(body.byteLength, 4)
  return Buffer.concat([prefix, head, body])
}

/** Cuts a stream of chunks into frames. A frame above the bounds throws: the other side is broken or hostile. */
export function createFrameReader(onFrame: (frame: Frame) => void, headerBytesMax: number, bodyBytesMax: number): (chunk: Buffer) => void {
  let chunks: Buffer[] = []
  let held = 0
  let needed = prefixBytes

  function cut(): boolean {
    if (held < needed) return false
    const all = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
    chunks = [all]
    const [headBytes, bodyBytes] = [all.readUInt32BE(0), all.readUInt32BE(4)]
    if (headBytes > headerBytesMax || bodyBytes > bodyBytesMax) throw new Error(`a frame of ${headBytes} + ${bodyBytes} bytes is too large`)
    const end = prefixBytes + headBytes + bodyBytes
    needed = end
    if (held < end) return false
    const header = JSON.parse(all.toString('utf8', prefixBytes, prefixBytes + headBytes)) as Record<string, unknown>
    chunks = held > end ? [all.subarray(end)] : []
    held -= end
    needed = prefixBytes
    onFrame({ header, body: all.subarray(prefixBytes + headBytes, end) })
    return true
  }

  return chunk => {
    chunks.push(chunk)
    held += chunk.byteLength
    while (cut());
  }
}
