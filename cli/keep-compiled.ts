import { lstatSync, mkdirSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { homedir } from 'node:os'
import path from 'node:path'

/**
 * Keeps what Node has compiled of our files for the next start, which then takes a third less. The folder must be ours
 * alone: whoever can write into it can make us run what they like, and Node's own default lies in a folder for everybody.
 * Any doubt means no cache.
 */
export function keepCompiled(): void {
  const folder = path.join(homedir(), '.cache', 'grokbot', 'compiled')
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const { uid, mode } = lstatSync(folder)
    if (uid === process.getuid?.() && (mode & 0o077) === 0) enableCompileCache(folder)
  } catch {
    // A home that can not be written, as in many containers: only the start is slower.
  }
}
