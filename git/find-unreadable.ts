import { accessSync, constants, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Unusable } from './borrow-repository.ts'
import { type FoundRepository, readSmall } from './find-repository.ts'
import { gitLimits } from './limits.ts'
import { statAt } from './stat-at.ts'

/**
 * What of a person's repository can not be read, or null. Danger: git waits for ever for a FIFO, and reads a file of any
 * size; the files it reads first, whatever is asked, are looked at before it starts.
 */
export function findUnreadable(root: string, { gitDir, common, objects }: FoundRepository): Unusable | null {
  const head = join(gitDir, 'HEAD')
  const read: [path: string, bytesMax: number][] = [
    [head, gitLimits.gitPointerBytesMax],
    ...indexFiles(gitDir).map((name): [string, number] => [join(gitDir, name), gitLimits.indexBytesMax]),
    ...['packed-refs', 'shallow'].map((name): [string, number] => [join(common, name), gitLimits.refsFileBytesMax]),
    [join(objects, 'info', 'alternates'), gitLimits.rulesBytesMax],
    ...['.gitattributes', '.gitignore'].map((name): [string, number] => [join(root, name), gitLimits.workRulesBytesMax]),
  ]
  for (const [path, bytesMax] of read) {
    const fault = faultOf(path, bytesMax)
    if (fault !== null) return fault
  }
  const branch = /^ref: (refs\/[^\0]+)$/.exec(readSmall(head, gitLimits.gitPointerBytesMax)?.trimEnd() ?? '')?.[1]
  // A folder of a branch's name is no fault: the branch then has no commit yet.
  if (branch === undefined || statAt(join(common, branch))?.isDirectory()) return null
  return faultOf(join(common, branch), gitLimits.gitPointerBytesMax)
}

/** An index that git has split has its larger part beside it. */
export function indexFiles(gitDir: string): string[] {
  return readdirSync(gitDir).filter(name => name === 'index' || name.startsWith('sharedindex.'))
}

function faultOf(path: string, bytesMax: number): Unusable | null {
  const stat = statAt(path)
  if (stat === null || (stat.isFile() && stat.size <= bytesMax && mayRead(path))) return null
  const next = 'put in its place what git would have there, or take it away'
  if (!stat.isFile()) return { kind: 'unusable', reason: `${path} is no plain file`, next }
  if (stat.size <= bytesMax) return { kind: 'unusable', reason: `${path} can not be read`, next: 'give yourself the right to read it' }
  return { kind: 'unusable', reason: `${path} has ${stat.size} bytes, and at most ${bytesMax} are read`, next }
}

function mayRead(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch {
    return false
  }
}
