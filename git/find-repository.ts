import { readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gitLimits } from './limits.ts'

/**
 * Where the parts of a person's repository lie, found by reading files only: no git is started in it, so nothing of its
 * configuration counts. A linked work tree and a submodule point to their objects in two steps.
 */
export function findRepository(folder: string): { gitDir: string; objects: string } | null {
  const dotGit = join(folder, '.git')
  const gitDir = isFolder(dotGit) ? dotGit : (readPointer(dotGit, folder, 'gitdir: ') ?? folder)
  const shared = readPointer(join(gitDir, 'commondir'), gitDir, '') ?? gitDir
  return isFile(join(gitDir, 'HEAD')) && isFolder(join(shared, 'objects')) ? { gitDir, objects: join(shared, 'objects') } : null
}

function readPointer(file: string, base: string, before: string): string | null {
  if (!isFile(file) || statSync(file).size > gitLimits.gitPointerBytesMax) return null
  const text = readFileSync(file, 'utf8').trimEnd()
  return text.startsWith(before) && text.length > before.length ? resolve(base, text.slice(before.length)) : null
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}
