import type { Duplex } from 'node:stream'
import { egressLimits } from './limits.ts'

/** The bytes one session has moved; every connection draws on the same two allowances. */
export type Allowance = { sent: number; received: number }

/** Counts what a stream carries and ends the connection when the session has moved more than it may. */
export function count(allowance: Allowance, way: keyof Allowance, stream: NodeJS.ReadableStream, peer: Duplex): void {
  const most = way === 'sent' ? egressLimits.sentBytesMax : egressLimits.receivedBytesMax
  stream.on('data', (chunk: Buffer) => {
    allowance[way] += chunk.byteLength
    if (allowance[way] > most) peer.destroy()
  })
}
