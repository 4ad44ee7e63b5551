import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gitLimits } from './limits.ts'

const prefix = 'grokbot-read-'

/** A folder of ours alone, for the gitdir with which a person's repository is read; whoever made it takes it away. */
export function makeScratchFolder(): string {
  return mkdtempSync(join(tmpdir(), prefix))
}

/** Those whose process was killed before it could take them away. Only our own, and none a living process may still use. */
export function removeScratchFolders(now: number): void {
  for (const name of readdirSync(tmpdir()).filter(name => name.startsWith(prefix))) {
    const folder = join(tmpdir(), name)
    const stat = lstatSync(folder, { throwIfNoEntry: false })
    if (!stat?.isDirectory() || stat.uid !== process.getuid?.()) continue
    if (stat.mtimeMs < now - gitLimits.scratchKeptMs) rmSync(folder, { recursive: true, force: true })
  }
}
