import { realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Theirs } from './borrow-repository.ts'
import { readPointer } from './find-repository.ts'
import { lstatAt, statAt } from './stat-at.ts'

/**
 * Why a change must not be written into this repository, or null. Danger: a folder out of an archive can point its gitdir,
 * its index, its objects or its work tree at another repository of the same person, which nobody has named.
 */
export function findForeign(theirs: Theirs): string | null {
  const { root, gitDir, common, objects, index, settings } = theirs
  const parts = [root, join(root, '.git'), gitDir, objects, index]
  const other = parts.find(path => !isOwn(path))
  if (other !== undefined) return `${other} is not there, or belongs to another user`
  if (!lstatAt(index)?.isFile()) return `${index} is no plain file`
  const { worktree } = settings
  if (worktree !== null && !isSame(resolve(gitDir, worktree), root)) return `its configuration names another work tree, ${worktree}`
  return findDetour(theirs, worktree !== null) ?? findForeignObjects(objects, common)
}

/** Where `.git` leads to a gitdir that is not this work tree's, or the gitdir to a repository it is no part of. */
function findDetour({ root, gitDir, common }: Theirs, leadsBack: boolean): string | null {
  if (lstatAt(join(root, '.git'))?.isDirectory()) return common === gitDir ? null : `its parts lie in another repository, ${common}`
  // Whoever wrote the gitdir wrote its `gitdir` and `commondir` too, so these prove nothing. Where it lies does: only the
  // repository itself makes folders in its `worktrees`.
  if (common !== gitDir && dirname(realpathSync(gitDir)) !== join(realpathSync(common), 'worktrees'))
    return `its parts lie in another repository, ${common}, which has no linked work tree ${gitDir}`
  const back = readPointer(join(gitDir, 'gitdir'), gitDir, '')
  return leadsBack || (back !== null && isSame(dirname(back), root)) ? null : `its .git leads to ${gitDir}, which does not lead back`
}

/** Git writes objects into `objects/00` to `objects/ff` and `objects/pack`, through whatever link stands there. */
function findForeignObjects(objects: string, common: string): string | null {
  const inside = ['pack', 'info', ...Array.from({ length: 256 }, (_, at) => at.toString(16).padStart(2, '0'))]
  for (const path of [common, objects, ...inside.map(name => join(objects, name))]) {
    const stat = lstatAt(path)
    if (stat?.isSymbolicLink()) return `${path} is a link, through which objects would be written elsewhere`
    if (stat !== null && !(stat.isDirectory() && isOwn(path))) return `${path} is no folder, or belongs to another user`
  }
  return null
}

function isOwn(path: string): boolean {
  return lstatAt(path)?.uid === process.geteuid?.()
}

function isSame(one: string, other: string): boolean {
  const [first, second] = [one, other].map(statAt)
  return first != null && second != null && first.dev === second.dev && first.ino === second.ino
}
