import { open } from 'node:fs/promises'
import type { Readable } from 'node:stream'

/**
 * A file as it was when it was opened, also when another takes its place or it is erased meanwhile. Whoever gets one reads
 * the stream to its end or destroys it.
 */
export type KeptFile = {
  bytes: number
  /** Its first bytes as text, to tell what it is. */
  start: string
  stream: Readable
}

const startBytes = 128

/** Null: there is no such file. */
export async function openKeptFile(path: string): Promise<KeptFile | null> {
  const file = await open(path, 'r').catch(nullIfAbsent)
  if (file === null) return null
  try {
    const { size } = await file.stat()
    const { buffer, bytesRead } = await file.read(Buffer.alloc(startBytes), 0, startBytes, 0)
    // As many bytes as are announced, should it grow.
    const stream = file.createReadStream({ start: 0, end: Math.max(0, size - 1) })
    return { bytes: size, start: buffer.toString('latin1', 0, bytesRead), stream }
  } catch (error) {
    await file.close()
    throw error
  }
}

function nullIfAbsent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}
