import { statSync } from 'node:fs'
import path from 'node:path'
import { applyChange, findStart, listUncommitted, type ProvenChange, type Remedy, type Start } from '../../git/index.ts'
import { escapeText } from '../escape.ts'
import { UsageError } from '../exit.ts'

/** A person's own repository, as `grokbot run` finds it. Nothing in it is written. */
export type LocalRepository = {
  /** The top of the work tree, absolute, without symlinks. */
  root: string
  /** The branch that is checked out; `HEAD` when none is. */
  branch: string
  base: { sha: string; ref: string }
  /** Counts the tracked and untracked paths that differ from HEAD and so are not used. */
  uncommitted(): Promise<number>
}

/**
 * Reads where a run starts from. No git runs in the repository's own configuration: the folder may have come out of an
 * archive. Throws `UsageError` for what is not usable.
 */
export async function readLocalRepository(folder: string, baseRef: string | null): Promise<LocalRepository> {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError('folder-missing', `there is no folder ${escapeText(folder)}`)
  if (baseRef?.startsWith('-'))
    throw new UsageError('commit-unknown', `${escapeText(baseRef)} is no name of a commit`, [
      'name a branch, a tag or a commit: --base REF',
    ])
  const start = await findStart(folder, baseRef).catch(sayNoGit)
  if (start.kind !== 'found') throw notUsable(start, folder, baseRef)
  const { root, branch, base } = start
  return { root, branch, base, uncommitted: () => countUncommitted(root) }
}

/** Of what git's own caller throws. */
export function sayNoGit(error: Error & { cause?: { code?: unknown } }): never {
  if (error.cause?.code === 'ENOENT') throw new UsageError('git-missing', 'git is not installed')
  throw error
}

function notUsable(start: Exclude<Start, { kind: 'found' }>, folder: string, baseRef: string | null): UsageError {
  switch (start.kind) {
    case 'no-work-tree':
      return new UsageError('repository-missing', `${escapeText(folder)} is not the work tree of a git repository`)
    case 'no-commit':
      if (baseRef === null)
        return new UsageError('repository-empty', `${escapeText(start.root)} has no commit yet, so there is nothing to start from`)
      return new UsageError('commit-unknown', `there is no commit ${escapeText(baseRef)} in ${escapeText(start.root)}`)
    case 'nameless':
      return new UsageError('commit-nameless', `the commit ${start.sha.slice(0, 12)} is on no branch, so it can not be fetched`)
    case 'unusable':
      return new UsageError('repository-unusable', `${escapeText(folder)} can not be used: ${escapeText(start.reason)}`, [
        escapeText(start.next),
      ])
  }
}

async function countUncommitted(root: string): Promise<number> {
  const found = await listUncommitted(root)
  return found ? new Set([...found.staged, ...found.changed, ...found.unsure, ...found.untracked]).size : 0
}

export type ApplyOutcome = { kind: 'applied' } | { kind: 'not-applied'; reason: string; next: string }

/** `patch`: where the person finds it. `again`: the line that asks for the same once more. */
type Lines = { patch: string; again: string }

/** Puts a proven change into the person's own work tree, at their request, or says why not and what they can do. */
export async function applyHere(root: string, change: ProvenChange, lines: Lines): Promise<ApplyOutcome> {
  const result = await applyChange(root, change)
  if (result.kind === 'applied') return result
  return { kind: 'not-applied', reason: result.reason, next: nextOf(result.remedy, path.relative(root, lines.patch), lines.again) }
}

function nextOf(remedy: Remedy, patch: string, again: string): string {
  const apply = `git apply --index ${shellWord(patch)}`
  switch (remedy.do) {
    case 'apply':
      return apply
    case 'three-way':
      return `git apply --3way --index ${shellWord(patch)}`
    case 'commit':
      return `commit or stash them, then: ${apply}`
    case 'look':
      return `see what git says: git status; then: ${apply}`
    case 'move':
      return `move ${shellWord(remedy.path)} away, then: ${apply}`
    case 'unlock':
      return `when no git runs there: rm -f ${shellWord(remedy.file)}; then: ${again}`
    case 'restore':
      return `read them; what nobody needs goes with: git checkout HEAD -- ${remedy.paths.map(shellWord).join(' ')}; then: ${again}`
    case 'unmark':
      return `${unmark(remedy)}; then: ${again}`
    case 'mend':
      return `mend that, then: ${again}`
  }
}

function unmark({ assumedUnchanged, skipped }: Extract<Remedy, { do: 'unmark' }>): string {
  const marks: [flag: string, paths: string[]][] = [
    ['--no-assume-unchanged', assumedUnchanged],
    ['--no-skip-worktree', skipped],
  ]
  const lines = marks.filter(([, paths]) => paths.length > 0)
  return lines.map(([flag, paths]) => `git update-index ${flag} ${paths.map(shellWord).join(' ')}`).join('; ')
}

/** For lines a person copies into a shell. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
