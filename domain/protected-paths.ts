import picomatch from 'picomatch'
import type { ChangedFile } from './event.ts'
import { domainLimits } from './limits.ts'
import { followLinks } from './link-places.ts'

export type ProtectedRules = {
  /** More globs from the repository's own configuration; they only add. */
  extra: readonly string[]
  /** Paths whose content in the final tree is what setup wrote: a lockfile among them is setup's change. */
  madeBySetup?: readonly string[]
  /**
   * Symbolic links: what a protected name points to is protected too. Those of the base belong among them besides those of
   * the changed tree: one that the change takes away comes back, since its name is protected, and leads where it led.
   */
  links?: readonly { path: string; target: string }[]
}

export type ProtectedFile = { path: string; from: string | null; reason: string }

/**
 * What a change of ours never contains, whoever asked for it: files that run with the repository's secrets, decide who
 * must review, change how a diff looks, steer agents, or pin what is installed. A person changes these.
 *
 * A pattern is a path relative to the root, folded as `fold` does: `name` = at the root, `…/` = the folder, everything in
 * it and whatever else has its name, `**` in front = one name at any depth.
 */
export const protectedTable = [
  {
    reason: 'runs with the repository’s secrets',
    patterns: [
      '.github/',
      '**/action.yml',
      '**/action.yaml',
      '.gitlab-ci.yml',
      '.gitlab/',
      '.circleci/',
      '.buildkite/',
      '.woodpecker/',
      '.woodpecker.yml',
      '.drone.yml',
      '.travis.yml',
      '.teamcity/',
      '.forgejo/',
      '.gitea/',
      'azure-pipelines.yml',
      'bitbucket-pipelines.yml',
      'appveyor.yml',
      '.appveyor.yml',
      'jenkinsfile',
      'renovate.json',
      'renovate.json5',
      '.renovaterc',
      '.renovaterc.json',
    ],
  },
  {
    // The third place, `.github/`, is protected as a whole.
    reason: 'decides who must review',
    patterns: ['codeowners', 'docs/codeowners'],
  },
  {
    reason: 'changes how git shows or fetches files',
    patterns: ['**/.gitattributes', '**/.gitmodules', '.mailmap', '.git-blame-ignore-revs', '**/.lfsconfig'],
  },
  {
    reason: 'steers agents',
    patterns: [
      '.grok/',
      '**/agents.md',
      '**/agents.override.md',
      '**/claude.md',
      '**/claude.local.md',
      '**/gemini.md',
      '**/.claude/',
      '**/.codex/',
      '**/.gemini/',
      '**/.cursor/',
      '**/.cursorrules',
      '**/.windsurf/',
      '**/.windsurfrules',
      '**/.clinerules',
      '**/.roo/',
      '**/.mcp.json',
    ],
  },
  {
    reason: 'pins what is installed, and setup did not write it',
    lock: true,
    patterns: [
      '**/package-lock.json',
      '**/npm-shrinkwrap.json',
      '**/yarn.lock',
      '**/pnpm-lock.yaml',
      '**/bun.lock',
      '**/bun.lockb',
      '**/deno.lock',
      '**/cargo.lock',
      '**/go.sum',
      '**/poetry.lock',
      '**/uv.lock',
      '**/pdm.lock',
      '**/pipfile.lock',
      '**/pylock.toml',
      '**/composer.lock',
      '**/gemfile.lock',
      '**/mix.lock',
      '**/packages.lock.json',
      '**/gradle.lockfile',
      '**/podfile.lock',
      '**/package.resolved',
      '**/pubspec.lock',
      '**/flake.lock',
    ],
  },
] as const satisfies readonly { reason: string; patterns: readonly string[]; lock?: true }[]

/**
 * Files of a change that may not be in it, with the reason; both sides of a rename count. Where links lead on further than
 * is followed, no file can be said to be none of them: then all of the change is refused.
 */
export function findProtected(files: readonly ChangedFile[], rules: ProtectedRules): ProtectedFile[] {
  const isExtra = picomatch(
    rules.extra.map(glob => glob.normalize('NFC').toLowerCase()),
    // With `s`, a newline in a name is a character like any other.
    { dot: true, nonegate: true, flags: 's' },
  )
  const reasonBehindLinks = followGuarded(rules.links ?? [])
  if (reasonBehindLinks === null) return files.map(({ path, from }) => ({ path, from, reason: mazeReason }))
  const setup = new Set(rules.madeBySetup ?? [])
  const reasonOf = (path: string | null): string | null => {
    if (path === null) return null
    const parts = fold(path)
    const reason = matchTable(parts, setup.has(path)) ?? reasonBehindLinks(parts)
    return reason ?? (rules.extra.length > 0 && isExtra(parts.join('/')) ? 'protected by the repository’s configuration' : null)
  }
  return files.flatMap(file => {
    const reason = reasonOf(file.path) ?? reasonOf(file.from) ?? (file.notes.includes(lfsNote) ? 'kept in Git LFS' : null)
    return reason === null ? [] : [{ path: file.path, from: file.from, reason }]
  })
}

const mazeReason = `symbolic links lead on from protected names further than is followed (linkedPartsMax ${domainLimits.linkedPartsMax})`

/** Set on a row of a diff when the path is in Git LFS on either side: a pointer may not be edited as a file. */
export const lfsNote = 'Git LFS'

/**
 * Every spelling some file system takes for the same name becomes one: composed, without case (also of letters that only
 * fold to ASCII), without the characters HFS+ ignores, without the dots, blanks and streams NTFS drops, one kind of slash.
 */
function fold(path: string): string[] {
  const plain = path.replaceAll(ignoredByHfs, '').normalize('NFC').toUpperCase().toLowerCase()
  return plain
    .split(/[/\\]/)
    .map(part => (part === '..' ? part : withoutEnd(part.replace(/:.*$/s, ''))))
    .filter(part => part !== '')
}

const ignoredByHfs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g

/** By hand: a pattern that begins anew at each blank takes minutes for a name of many. */
function withoutEnd(part: string): string {
  let end = part.length
  while (part[end - 1] === ' ' || part[end - 1] === '.') end--
  return part.slice(0, end)
}

const rows = protectedTable.map(row => {
  const patterns = row.patterns.map(pattern => pattern.replace(/\/$/, ''))
  return {
    reason: row.reason,
    isLock: 'lock' in row,
    anywhere: new Set(patterns.flatMap(pattern => (pattern.startsWith('**/') ? [pattern.slice(3)] : []))),
    atRoot: patterns.filter(pattern => !pattern.startsWith('**/')).map(name => name.split('/')),
  }
})

function matchTable(parts: readonly string[], bySetup: boolean): string | null {
  for (const { reason, isLock, anywhere, atRoot } of rows) {
    if (bySetup && isLock) continue
    if (parts.some(part => anywhere.has(part)) || atRoot.some(name => isUnder(parts, name))) return reason
  }
  return null
}

/** The path itself, or anything in it: a name that is a file today can be a folder in the next change. */
function isUnder(parts: readonly string[], name: readonly string[]): boolean {
  return name.every((part, index) => parts[index] === part)
}

/** Where protected names lead when they, a folder above them or a part of them are links. Null: further than is followed. */
function followGuarded(links: readonly { path: string; target: string }[]): ReturnType<typeof followLinks> {
  const places = links.flatMap(({ path, target }) => {
    const at = fold(path)
    const to = at.length === 0 ? null : resolveLink(at, target)
    return to === null ? [] : [{ path: at, target: to }]
  })
  const behindNames = places.flatMap(({ path, target }) => {
    const reason = matchTable(path, false)
    return reason === null ? [] : [{ path: target, reason }]
  })
  const atRoot = rows.flatMap(({ reason, atRoot }) => atRoot.map(path => ({ path, reason })))
  return followLinks(places, [...behindNames, ...atRoot], domainLimits.linkedPartsMax)
}

/** Relative to the link's folder; no parts are the root itself, null leads out of the repository. */
function resolveLink(link: readonly string[], target: string): string[] | null {
  if (target.startsWith('/')) return null
  const parts = link.slice(0, -1)
  for (const part of fold(target)) {
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) return null
  }
  return parts
}
