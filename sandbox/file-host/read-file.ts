import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { type Fault, fault, faultOf } from './fault.ts'

export type ReadAnswer = { header: Fault | { kind: 'read'; mode: number }; body?: Uint8Array }

/** Reads a regular file whole. A FIFO must not block and a device must not answer, so what was opened is looked at first. */
export function readFile(path: string, maxBytes: number): ReadAnswer {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  } catch (error) {
    return { header: faultOf(error) }
  }
  try {
    const stat = fstatSync(fd)
    if (stat.isDirectory()) return { header: fault('is-directory', `${path} is a directory`) }
    if (!stat.isFile()) return { header: fault('not-a-file', `${path} is not a regular file`) }
    if (stat.size > maxBytes) return { header: { ...fault('too-large', `${path} has ${stat.size} bytes`), bytes: stat.size } as Fault }
    const content = Buffer.allocUnsafe(stat.size)
    let filled = 0
    while (filled < content.byteLength) {
      const bytes = readSync(fd, content, filled, content.byteLength - filled, filled)
      if (bytes === 0) break
      filled += bytes
    }
    return { header: { kind: 'read', mode: stat.mode & 0o7777 }, body: content.subarray(0, filled) }
  } catch (error) {
    return { header: faultOf(error) }
  } finally {
    closeSync(fd)
  }
}
