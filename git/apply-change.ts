import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Borrowed, borrowRepository } from './borrow-repository.ts'
import { compareChange, type Standing } from './compare-change.ts'
import { findForeign } from './find-foreign.ts'
import { gitLimits } from './limits.ts'
import { type BytePath, listChanged, listFiltered } from './list-uncommitted.ts'
import { parseRaw, type RawChange } from './raw-change.ts'
import { checkSha } from './ref-name.ts'
import { showPath } from './shown-path.ts'
import { lstatAt } from './stat-at.ts'

/** A proven change: its patch as a file, the commit it was made on, and the tree it makes of that commit's. */
export type ProvenChange = { base: string; tree: string; patch: string }

export type ApplyResult =
  | { kind: 'applied' }
  /** Nothing was written, except where it says so. `remedy` is what a person can do. */
  | { kind: 'refused'; reason: string; remedy: Remedy }

export type Remedy =
  /** What git itself, with the person's own configuration, can do. */
  | { do: 'apply' | 'three-way' }
  /** To do first; then git can apply it. */
  | { do: 'commit' | 'look' }
  | { do: 'move'; path: string }
  /** To do first; then the same again. */
  | { do: 'unlock'; file: string }
  | { do: 'restore'; paths: string[] }
  /** Marks of files that git then looks at again; a file may have both. */
  | { do: 'unmark'; assumedUnchanged: string[]; skipped: string[] }
  | { do: 'mend' }

/**
 * Puts a change into a person's work tree and index, as `git apply --index` would, and starts no program of theirs: what
 * only their filters could write is refused. Only what the change names is written, where it is as the base has it. If
 * that is ended in between, the same again finds which files are as the change has them and does the rest.
 */
export async function applyChange(root: string, change: ProvenChange, wallMs: number = gitLimits.applyWallMs): Promise<ApplyResult> {
  const result = await borrowRepository(root, wallMs, borrowed => apply(borrowed, change))
  // Git by hand would wait, or stumble, in the same place.
  return result.kind === 'unusable' ? refuse(result.reason, { do: 'mend' }) : result
}

async function apply(borrowed: Borrowed, change: ProvenChange): Promise<ApplyResult> {
  const { theirs, folder, run } = borrowed
  const { base, tree } = change
  const foreign = findForeign(theirs)
  if (foreign !== null) return refuse(foreign, { do: 'apply' })
  const head = await run(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'])
  if (head.stdout.toString('latin1').trim() !== base)
    return refuse(`HEAD is not ${base.slice(0, 12)}, the commit the change was made on`, { do: 'three-way' })
  const index = join(folder, 'made-index')
  if ((await makeTree(run, change, { GIT_INDEX_FILE: index })) !== tree)
    return refuse('the patch does not give the tree that was proven', { do: 'look' })
  const changes = await listChanges(run, change)
  const standing = await compareChange(borrowed, { base, tree, changes })
  if (standing.kind === 'applied') return { kind: 'applied' }
  const paths = changes.map(({ path }) => path.toString('latin1'))
  const [before, after] = await Promise.all([listFiltered(borrowed, paths), listFiltered(borrowed, paths, index)])
  if (before === null || after === null) return refuse('which files have a filter could not be found out', { do: 'apply' })
  const [filtered] = [...before, ...after]
  if (filtered !== undefined) return refuse(`${show(filtered)} has a filter, a program that is not started here`, { do: 'apply' })
  return refusalOf(standing) ?? (await write(borrowed, change, standing))
}

/** Null: it can be written. */
function refusalOf(standing: Standing): ApplyResult | null {
  switch (standing.kind) {
    case 'unknown':
      return refuse('whether tracked files are changed could not be found out in time', { do: 'look' })
    case 'edited-since':
      return refuse(`the change is in the index already, and files differ from it: ${some(standing.paths)}`, { do: 'look' })
    case 'uncommitted':
      return refuse(`there are uncommitted changes of tracked files: ${some(standing.paths)}`, { do: 'commit' })
    case 'in-the-way':
      return refuse(`${show(standing.path)} is in the way: it is there, and not in the commit`, { do: 'move', path: show(standing.path) })
    case 'half':
      if (standing.odd.length === 0) return null
      return refuse(`${begun(standing)}; neither as before nor as after: ${some(standing.odd)}`, {
        do: 'restore',
        paths: standing.odd.map(show),
      })
    default:
      return null
  }
}

async function write(borrowed: Borrowed, change: ProvenChange, standing: Standing): Promise<ApplyResult> {
  const { theirs, folder, run } = borrowed
  const lock = `${theirs.index}.lock`
  const words = standing.kind === 'half' ? `${begun(standing)}, and ` : ''
  if (existsSync(lock)) return refuse(`${words}${lock} is there: another git works here, or was killed`, { do: 'unlock', file: lock })
  const there = { GIT_OBJECT_DIRECTORY: theirs.objects }
  const made = await makeTree(run, change, { ...there, GIT_INDEX_FILE: join(folder, 'made-again-index') })
  if (made !== change.tree) return refuse('the objects of the change could not be written', { do: 'mend' })
  // A file that only has other times would be taken for another one. Both calls are asked to end before they are killed,
  // since git killed at once leaves a lock that stops every later git.
  const call = { env: { ...there, GIT_INDEX_FILE: theirs.index }, endsTidily: true }
  await run(['update-index', '-q', '--refresh'], call)
  // `-m` looks at each file once more before it writes any. `--reset` does not: only what was found half done is ended so.
  const way = standing.kind === 'half' ? '--reset' : '-m'
  const { exitCode, ended, stderr } = await run(['read-tree', way, '-u', change.base, change.tree], call)
  if (exitCode === 0) return { kind: 'applied' }
  return (
    (ended === 'exit' ? await findMarked(borrowed, change) : null) ??
    refuse(`git read-tree: ${ended === 'exit' ? firstLine(stderr) : ended}`, { do: 'mend' })
  )
}

/** What a person told git not to look at, and so no comparison has seen, when it is of the change and was edited. */
async function findMarked(borrowed: Borrowed, change: ProvenChange): Promise<ApplyResult | null> {
  const { run, folder, theirs } = borrowed
  const [changes, listed] = [await listChanges(run, change), await run(['ls-files', '-v', '-z'])]
  const paths = new Set(changes.map(({ path }) => path.toString('latin1')))
  // Each entry has a letter in front: `S` for what is passed over, a small one for what is taken to be unchanged.
  const entries = listed.stdout.toString('latin1').split('\0')
  const marked = entries.filter(entry => /^[a-zS]/.test(entry) && paths.has(entry.slice(2)))
  const input = Buffer.from(marked.map(entry => `${entry.slice(2)}\0`).join(''), 'latin1')
  // In our copy the marks are taken away, and git looks.
  for (const mark of ['--no-assume-unchanged', '--no-skip-worktree']) await run(['update-index', mark, '-z', '--stdin'], { input })
  const changed = new Set(await listChanged(borrowed, join(folder, 'index')))
  const isThere = (path: BytePath) => lstatAt(Buffer.concat([Buffer.from(`${theirs.root}/`), Buffer.from(path, 'latin1')])) !== null
  const edited = marked.filter(entry => changed.has(entry.slice(2)) && isThere(entry.slice(2)))
  if (edited.length === 0) return null
  const pathsOf = (mark: RegExp) => edited.filter(entry => mark.test(entry)).map(entry => show(entry.slice(2)))
  return refuse(`git was told not to look at ${some(edited.map(entry => entry.slice(2)))}, and the file was edited`, {
    do: 'unmark',
    assumedUnchanged: pathsOf(/^[a-z]/),
    skipped: pathsOf(/^s/i),
  })
}

/** Makes the tree the patch gives, its objects where `env` says; null when it can not be made. */
async function makeTree(run: Borrowed['run'], { base, patch }: ProvenChange, env: Record<string, string>): Promise<string | null> {
  for (const argv of [
    ['read-tree', checkSha(base)],
    ['apply', '--cached', '--whitespace=nowarn', '--', patch],
  ])
    if ((await run(argv, { env })).exitCode !== 0) return null
  return (await run(['write-tree'], { env })).stdout.toString('latin1').trim()
}

async function listChanges(run: Borrowed['run'], { base, tree }: ProvenChange): Promise<RawChange[]> {
  const { exitCode, stdout } = await run(['diff-tree', '-r', '-z', '--raw', '--no-abbrev', '--no-renames', base, checkSha(tree)])
  if (exitCode !== 0) throw new Error('a change that was just made can not be listed')
  return parseRaw(stdout)
}

function begun({ done, of }: Extract<Standing, { kind: 'half' }>): string {
  return `an earlier --apply was ended in between (${done} of ${of} files are as the change has them)`
}

function refuse(reason: string, remedy: Remedy): ApplyResult {
  return { kind: 'refused', reason, remedy }
}

function show(path: BytePath): string {
  return showPath(Buffer.from(path, 'latin1'))
}

/** As many as a person reads. */
function some(paths: readonly BytePath[]): string {
  const named = paths.slice(0, gitLimits.pathsNamedMax).map(show).join(', ')
  return paths.length > gitLimits.pathsNamedMax ? `${named} and ${paths.length - gitLimits.pathsNamedMax} more` : named
}

function firstLine(text: string): string {
  return (
    text
      .split('\n')
      .find(line => line.trim() !== '')
      ?.trim() ?? 'no message'
  )
}
