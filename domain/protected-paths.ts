import picomatch from 'picomatch'
import type { ChangedFile } from './event.ts'

export type ProtectedRules = { extra: readonly string[] }

const patterns = [
  '.github/**',
  '.github',
  '**/CODEOWNERS',
  '**/.gitattributes',
  '.gitmodules',
  '.mailmap',
  '.git-blame-ignore-revs',
  '.grok/**',
  '.grok',
]

/** Files of a change that may not be in it, with the rule; case-folded, both sides of a rename. */
export function findProtected(
  files: readonly ChangedFile[],
  rules: ProtectedRules,
): { path: string; from: string | null; reason: string }[] {
  const isProtected = picomatch(
    [...patterns, ...rules.extra].map(pattern => pattern.toLowerCase()),
    { dot: true },
  )
  const hit = (path: string | null) => path !== null && isProtected(path.normalize('NFC').toLowerCase())
  return files.filter(file => hit(file.path) || hit(file.from)).map(({ path, from }) => ({ path, from, reason: 'protected path' }))
}
