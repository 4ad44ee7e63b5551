import { randomBytes } from 'node:crypto'
import { closeSync, fchmodSync, lstatSync, mkdirSync, openSync, realpathSync, renameSync, rmSync, type Stats, writeSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type Fault, fault, faultOf } from './fault.ts'

/**
 * Replaces a file in one step: a temporary sibling, then rename. The mode of an existing file is kept; a symlink is written
 * through, to wherever the kernel lets it lead.
 */
export function writeFile(path: string, content: Uint8Array): Fault | { kind: 'written'; created: boolean } {
  try {
    mkdirSync(dirname(path), { recursive: true })
    const target = lstat(path)?.isSymbolicLink() ? realpathSync(path) : path
    const before = lstat(target)
    if (before?.isDirectory()) return fault('is-directory', `${path} is a directory`)
    if (before && !before.isFile()) return fault('not-a-file', `${path} is not a regular file`)
    replace(target, content, before === null ? null : before.mode & 0o777)
    return { kind: 'written', created: before === null }
  } catch (error) {
    return faultOf(error)
  }
}

function replace(target: string, content: Uint8Array, mode: number | null): void {
  const name = basename(target)
  // A name of full length leaves no room for a suffix; the random part alone is enough to be unique.
  const temporary = join(dirname(target), `.${name.slice(0, 32)}.${randomBytes(6).toString('hex')}.tmp`)
  const fd = openSync(temporary, 'wx', 0o644)
  try {
    for (let written = 0; written < content.byteLength; ) written += writeSync(fd, content, written)
    if (mode !== null) fchmodSync(fd, mode)
    closeSync(fd)
    renameSync(temporary, target)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

function lstat(path: string): Stats | null {
  return lstatSync(path, { throwIfNoEntry: false }) ?? null
}
