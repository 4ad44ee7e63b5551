import { createHash } from 'node:crypto'
import { closeSync, openSync, writeSync } from 'node:fs'

export type OutputCapture = {
  /** Takes the next chunk. False: the output has passed what may be kept; the command is to be killed. */
  add(chunk: Buffer): boolean
  end(): { output: Uint8Array; outputBytes: number; outputHash: string; outputFile: string }
}

/** Head and tail of a command's output, its hash over everything, and the whole of it in a file up to `fileBytesMax`. */
export function captureOutput(outputFile: string, keepBytesMax: number, fileBytesMax: number): OutputCapture {
  const fd = openSync(outputFile, 'wx', 0o600)
  const hash = createHash('sha256')
  const half = Math.floor((keepBytesMax - markerBytesMax) / 2)
  const head: Buffer[] = []
  const tail: Buffer[] = []
  let [headBytes, tailBytes, total] = [0, 0, 0]

  function keep(chunk: Buffer): void {
    // Everything is kept until it is more than fits; then the first half stays and the rest becomes a sliding tail.
    const room = Math.max(0, half - headBytes)
    if (room > 0) head.push(chunk.subarray(0, room))
    headBytes += Math.min(room, chunk.byteLength)
    if (chunk.byteLength <= room) return
    tail.push(chunk.subarray(room))
    tailBytes += chunk.byteLength - room
    const keepTail = keepBytesMax - half
    while (tail[0] !== undefined && tailBytes - tail[0].byteLength >= keepTail) tailBytes -= (tail.shift() as Buffer).byteLength
  }

  return {
    add(chunk) {
      hash.update(chunk)
      const room = Math.max(0, fileBytesMax - total)
      if (room > 0) writeAll(fd, chunk.subarray(0, room))
      total += chunk.byteLength
      keep(chunk)
      return total <= fileBytesMax
    },
    end() {
      closeSync(fd)
      const kept = Buffer.concat(tail)
      const whole = total <= keepBytesMax
      const marker = Buffer.from(`\n[... ${total - headBytes - half} bytes left out ...]\n`)
      const output = whole ? Buffer.concat([...head, kept]) : Buffer.concat([...head, marker, kept.subarray(kept.byteLength - half)])
      return { output, outputBytes: total, outputHash: hash.digest('hex'), outputFile }
    },
  }
}

const markerBytesMax = 64

function writeAll(fd: number, chunk: Buffer): void {
  for (let written = 0; written < chunk.byteLength; ) written += writeSync(fd, chunk, written)
}
