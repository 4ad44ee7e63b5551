import { gitLimits } from './limits.ts'

/**
 * Why one path of a tree must not be taken, or null. Git on other systems would write some spellings into `.git` itself;
 * those are refused, and so is everything that is no plain relative path. Any other byte stays as it is.
 */
export function faultOfPath(path: Uint8Array): string | null {
  const text = Buffer.from(path.buffer, path.byteOffset, path.byteLength).toString('latin1')
  if (path.byteLength === 0) return 'an empty name'
  if (path.byteLength > gitLimits.pathBytesMax) return `longer than ${gitLimits.pathBytesMax} bytes`
  for (const part of text.split('/')) {
    if (part === '') return 'an empty part in its name'
    if (part === '.' || part === '..') return 'a part that leaves its folder'
    // Windows takes a backslash for a slash.
    for (const piece of part.split('\\')) {
      if (piece === '..') return 'a part that leaves its folder on Windows'
      if (isDotGit(piece)) return 'a name that stands for .git'
    }
  }
  return null
}

/** `.git` in any case, with the characters HFS+ ignores, and as NTFS spells it (`git~1`, trailing dots, blanks, streams). */
function isDotGit(latin1: string): boolean {
  const ntfs = withoutEnd(latin1.toLowerCase().replace(/:.*$/s, ''))
  if (ntfs === '.git' || ntfs === 'git~1') return true
  const hfs = Buffer.from(latin1, 'latin1').toString('utf8').replaceAll(ignoredByHfs, '').toLowerCase()
  return hfs === '.git'
}

/** By hand: a pattern that begins anew at each blank takes minutes for a tree whose names are full of them. */
function withoutEnd(name: string): string {
  let end = name.length
  while (name[end - 1] === ' ' || name[end - 1] === '.') end--
  return name.slice(0, end)
}

const ignoredByHfs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g
