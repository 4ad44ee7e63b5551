import { readFileSync, statSync } from 'node:fs'
import { escapeText } from './escape.ts'
import { UsageError } from './exit.ts'

type Naming = {
  /** Where it was named, in front of what is said of it: an option, a variable. */
  by?: string
  /** More is refused before anything is read, and so is what has no size of its own, as a pipe has none. */
  bytesMax?: number
}

/** The bytes of a file that the caller named. Throws `UsageError` that says which file, and what is wrong with it. */
export function readNamed(file: string, { by, bytesMax }: Naming = {}): Buffer {
  const shown = shownAs(file, by)
  try {
    if (bytesMax !== undefined) {
      const stat = statSync(file)
      if (!stat.isFile()) throw new UsageError('file-missing', `${shown} is no file`)
      if (stat.size > bytesMax) throw new UsageError('file-too-large', `${shown} is larger than ${bytesMax} bytes`)
    }
    return readFileSync(file)
  } catch (error) {
    throw notRead(error, file, by)
  }
}

/** What a failed reading of a named file is to whoever named it; what is no failure of the file system stays what it is. */
export function notRead(error: unknown, file: string, by?: string): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code === undefined) return error
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return new UsageError('file-missing', `${by === undefined ? '' : `${by}: `}there is no file ${escapeText(file)}`)
  if (code === 'EISDIR') return new UsageError('file-missing', `${shownAs(file, by)} is no file`)
  return new UsageError('file-unreadable', `${shownAs(file, by)} can not be read: ${code}`)
}

function shownAs(file: string, by: string | undefined): string {
  return `${by === undefined ? '' : `${by}: `}${escapeText(file)}`
}
