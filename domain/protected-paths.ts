import picomatch from 'picomatch'
import type { ChangedFile } from './event.ts'

export type ProtectedRules = {
  /** More globs from the repository's own configuration; they only add. */
  extra: readonly string[]
  /** Paths whose content in the final tree is what setup wrote: a lockfile among them is setup's change. */
  madeBySetup?: readonly string[]
  /** Symbolic links of the final tree: what a protected name points to is protected too. */
  links?: readonly { path: string; target: string }[]
}

export type ProtectedFile = { path: string; from: string | null; reason: string }

/**
 * What a change of ours never contains, whoever asked for it: files that run with the repository's secrets, decide who
 * must review, change how a diff looks, steer agents, or pin what is installed. A person changes these.
 *
 * A pattern is a path relative to the root, folded as `fold` does: `name` = at the root, `…/` = the folder, everything in
 * it and whatever else has its name, `**` in front = at any depth.
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

/** Links that lead on to links end here; a repository that needs more has built a maze. */
const targetsMax = 1000

/** Files of a change that may not be in it, with the reason; both sides of a rename count. */
export function findProtected(files: readonly ChangedFile[], rules: ProtectedRules): ProtectedFile[] {
  const isExtra = picomatch(
    rules.extra.map(glob => glob.normalize('NFC').toLowerCase()),
    // With `s`, a newline in a name is a character like any other.
    { dot: true, nonegate: true, flags: 's' },
  )
  const targets = protectedTargets(rules.links ?? [])
  const setup = new Set(rules.madeBySetup ?? [])
  const reasonOf = (path: string | null): string | null => {
    if (path === null) return null
    const folded = fold(path)
    const behindLink = targets.find(({ target }) => isUnder(folded, target))?.reason
    const reason = matchTable(folded, setup.has(path)) ?? behindLink ?? null
    return reason ?? (rules.extra.length > 0 && isExtra(folded) ? 'protected by the repository’s configuration' : null)
  }
  return files.flatMap(file => {
    const reason = reasonOf(file.path) ?? reasonOf(file.from) ?? (file.notes.includes(lfsNote) ? 'kept in Git LFS' : null)
    return reason === null ? [] : [{ path: file.path, from: file.from, reason }]
  })
}

/** Set on a row of a diff when the path is in Git LFS on either side: a pointer may not be edited as a file. */
export const lfsNote = 'Git LFS'

/**
 * Every spelling some file system takes for the same name becomes one: composed, without case (also of letters that only
 * fold to ASCII), without the characters HFS+ ignores, without the dots, blanks and streams NTFS drops, one kind of slash.
 */
function fold(path: string): string {
  const plain = path.replaceAll(ignoredByHfs, '').normalize('NFC').toUpperCase().toLowerCase()
  return plain
    .split(/[/\\]/)
    .map(part => (part === '..' ? part : part.replace(/:.*$/s, '').replace(/[ .]+$/, '')))
    .filter(part => part !== '')
    .join('/')
}

const ignoredByHfs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g

function matchTable(folded: string, bySetup: boolean): string | null {
  for (const row of protectedTable) {
    if (bySetup && 'lock' in row) continue
    if (row.patterns.some(pattern => matches(folded, pattern))) return row.reason
  }
  return null
}

function matches(folded: string, pattern: string): boolean {
  const { name, anywhere } = readPattern(pattern)
  return isUnder(folded, name) || (anywhere && `/${folded}/`.includes(`/${name}/`))
}

function readPattern(pattern: string): { name: string; anywhere: boolean } {
  const anywhere = pattern.startsWith('**/')
  return { name: (anywhere ? pattern.slice(3) : pattern).replace(/\/$/, ''), anywhere }
}

/** The path itself, or anything in it: a name that is a file today can be a folder in the next change. */
function isUnder(folded: string, name: string): boolean {
  return `${folded}/`.startsWith(`${name}/`)
}

type Target = { target: string; reason: string }

/** Where protected names lead when they, a folder above them or a part of them are links: writing there is writing to the name. */
function protectedTargets(links: readonly { path: string; target: string }[]): Target[] {
  const folded = links.flatMap(({ path, target }) => {
    const resolved = resolveLink(fold(path), target)
    return resolved === null ? [] : [{ path: fold(path), target: resolved }]
  })
  const found = new Map<string, string>()
  const waiting = folded.flatMap(link => firstTargets(link))
  for (let next = waiting.pop(); next && found.size < targetsMax; next = waiting.pop()) {
    const { target, reason } = next
    if (found.has(target)) continue
    found.set(target, reason)
    for (const link of folded) {
      if (isUnder(target, link.path)) waiting.push({ target: `${link.target}${target.slice(link.path.length)}`, reason })
      else if (isUnder(link.path, target)) waiting.push({ target: link.target, reason })
    }
  }
  return [...found].map(([target, reason]) => ({ target, reason }))
}

function firstTargets(link: { path: string; target: string }): Target[] {
  return protectedTable.flatMap(({ reason, patterns }) =>
    patterns.flatMap(pattern => {
      const { name } = readPattern(pattern)
      if (matches(link.path, pattern)) return [{ target: link.target, reason }]
      return isUnder(name, link.path) ? [{ target: `${link.target}${name.slice(link.path.length)}`, reason }] : []
    }),
  )
}

/** Relative to the link's folder; null when it leads out of the repository. */
function resolveLink(link: string, target: string): string | null {
  if (target.startsWith('/')) return null
  const parts = link.split('/').slice(0, -1)
  for (const part of fold(target).split('/')) {
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) return null
  }
  return parts.length === 0 ? null : parts.join('/')
}
