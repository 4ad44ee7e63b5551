import { lstatSync, type Stats, statSync } from 'node:fs'

/** Null: there is nothing, or nothing this user may see. */
export function statAt(path: string): Stats | null {
  try {
    return statSync(path)
  } catch {
    return null
  }
}

/** The thing itself, also when it is a link. Null: there is nothing. Throws when that can not be seen. */
export function lstatAt(path: string | Buffer): Stats | null {
  try {
    return lstatSync(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw error
  }
}
