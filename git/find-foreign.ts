import { dirname, join, resolve } from 'node:path'
import type { Theirs } from './borrow-repository.ts'
import { readPointer } from './find-repository.ts'
import { lstatAt, statAt } from './stat-at.ts'

/**
 * Why a change must not be written into this repository, or null. Danger: a folder out of an archive can point its gitdir,
 * its index or its work tree at another repository of the same person, which nobody has named.
 */
export function findForeign({ root, gitDir, common, objects, index, settings }: Theirs): string | null {
  const parts = [root, join(root, '.git'), gitDir, objects, index]
  const other = parts.find(path => lstatAt(path)?.uid !== process.geteuid?.())
  if (other !== undefined) return `${other} is not there, or belongs to another user`
  if (!lstatAt(index)?.isFile()) return `${index} is no plain file`
  const { worktree } = settings
  if (worktree !== null && !isSame(resolve(gitDir, worktree), root)) return `its configuration names another work tree, ${worktree}`
  if (lstatAt(join(root, '.git'))?.isDirectory()) return common === gitDir ? null : `its parts lie in another repository, ${common}`
  const back = readPointer(join(gitDir, 'gitdir'), gitDir, '')
  const leadsBack = worktree !== null || (back !== null && isSame(dirname(back), root))
  return leadsBack ? null : `its .git leads to ${gitDir}, which does not lead back`
}

function isSame(one: string, other: string): boolean {
  const [first, second] = [one, other].map(statAt)
  return first != null && second != null && first.dev === second.dev && first.ino === second.ino
}
