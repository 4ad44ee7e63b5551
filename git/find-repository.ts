import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { gitLimits } from './limits.ts'
import { statAt } from './stat-at.ts'

/** `common` is where configuration, refs and objects lie; a linked work tree has only HEAD and index for itself. */
export type FoundRepository = { gitDir: string; common: string; objects: string }

/**
 * Where the parts of a person's repository lie, found by reading files only: no git is started in it, so nothing of its
 * configuration counts. A linked work tree and a submodule point to their objects in two steps.
 */
export function findRepository(folder: string): FoundRepository | null {
  const dotGit = join(folder, '.git')
  const gitDir = isFolder(dotGit) ? dotGit : (readPointer(dotGit, folder, 'gitdir: ') ?? folder)
  const common = readPointer(join(gitDir, 'commondir'), gitDir, '') ?? gitDir
  const objects = join(common, 'objects')
  return isFile(join(gitDir, 'HEAD')) && isFolder(objects) ? { gitDir, common, objects } : null
}

/**
 * The top of the work tree a folder lies in: the nearest folder with a `.git` of its own, without symlinks. Danger: a
 * repository's `core.worktree` can name any other folder, one nobody asked for, so it does not count. Null: none.
 */
export function findWorkTree(folder: string): string | null {
  for (let at = realpathSync(folder); ; at = dirname(at)) {
    const [found, dotGit] = [findRepository(at), join(at, '.git')]
    if (found !== null && found.gitDir !== at) return at
    // A bare repository has no work tree, and a pointer that leads nowhere is no reason to take the repository around it.
    if (found !== null || isFile(dotGit) || dirname(at) === at) return null
  }
}

/** A file with where else to look: `.git` of a linked work tree or submodule, `commondir`, `gitdir`. */
export function readPointer(file: string, base: string, before: string): string | null {
  const text = readSmall(file, gitLimits.gitPointerBytesMax)?.trimEnd()
  return text?.startsWith(before) && text.length > before.length ? resolve(base, text.slice(before.length)) : null
}

/** A plain file of at most so many bytes, as text; null for anything else. Nothing is waited for, and no more is read. */
export function readSmall(file: string, bytesMax: number): string | null {
  if (!isFile(file)) return null
  const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stat = fstatSync(fd)
    if (!stat.isFile() || stat.size > bytesMax) return null
    const bytes = Buffer.alloc(stat.size)
    return bytes.subarray(0, readSync(fd, bytes)).toString('utf8')
  } finally {
    closeSync(fd)
  }
}

function isFolder(path: string): boolean {
  return statAt(path)?.isDirectory() ?? false
}

function isFile(path: string): boolean {
  return statAt(path)?.isFile() ?? false
}
