import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

const keyBytes = 32

/** A secret of this installation, made at its first use: 0600, in a folder nobody else may list. */
export function readOrMakeKey(dataDir: string, name: string): Uint8Array {
  const folder = path.join(dataDir, 'keys')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = path.join(folder, name)
  try {
    // Exclusive: of two processes that start at once, one makes it and both read it.
    writeFileSync(file, randomBytes(keyBytes), { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const key = readFileSync(file)
  if (key.length !== keyBytes) throw new Error(`${file} has ${key.length} bytes, not ${keyBytes}: restore it from a back-up`)
  return key
}
