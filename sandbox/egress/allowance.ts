import type { Duplex } from 'node:stream'

/**
 * The bytes one session may still move; every connection draws on the same two sums. What leaves is bounded much more
 * narrowly than what comes: it is what could carry something away.
 */
export type Allowance = { sentLeft: number; receivedLeft: number }

/** Counts what a stream carries and ends the connection when the session has moved more than it may. */
export function count(allowance: Allowance, way: keyof Allowance, stream: NodeJS.ReadableStream, peer: Duplex): void {
  stream.on('data', (chunk: Buffer) => {
    if (!draw(allowance, way, chunk.byteLength)) peer.destroy()
  })
}

/** False when there was not that much left. */
export function draw(allowance: Allowance, way: keyof Allowance, bytes: number): boolean {
  allowance[way] -= bytes
  return allowance[way] >= 0
}
