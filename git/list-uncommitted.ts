import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Borrowed, borrowRepository } from './borrow-repository.ts'
import { gitLimits } from './limits.ts'
import { parseRaw } from './raw-change.ts'
import { showPath } from './shown-path.ts'

export type Uncommitted = {
  /** Paths whose entry in the index is not the commit's. */
  staged: string[]
  /** Paths whose file is not what the index says. */
  changed: string[]
  /** Paths whose file has other times than the index says, and a filter: only that program could tell whether it is another. */
  unsure: string[]
  untracked: string[]
}

/** What of a person's work tree is not in HEAD. Null: it can not be said, or not in time. No filter is started for it. */
export async function listUncommitted(root: string, wallMs: number = gitLimits.theirsWallMs): Promise<Uncommitted | null> {
  const found = await borrowRepository(root, wallMs, async (borrowed): Promise<Uncommitted | null> => {
    const [staged, changed, untracked] = await Promise.all([
      listStaged(borrowed, 'HEAD'),
      listChanged(borrowed, join(borrowed.folder, 'index')),
      listNames(borrowed, ['ls-files', '--others', '--exclude-standard', '-z', '--', '.', ':(exclude,top).grok/out']),
    ])
    if (staged === null || changed === null || untracked === null) return null
    const filtered = await listFiltered(borrowed, changed)
    if (filtered === null) return null
    const [unsure, sure] = [changed.filter(path => filtered.has(path)), changed.filter(path => !filtered.has(path))]
    return { staged: staged.map(show), changed: sure.map(show), unsure: unsure.map(show), untracked: untracked.map(show) }
  })
  return found === null || 'kind' in found ? null : found
}

/** Paths are bytes; between these functions each is a string of them, one character a byte. */
export type BytePath = string

/** Those whose entry in their index is another than in the tree. */
export async function listStaged(borrowed: Borrowed, tree: string): Promise<BytePath[] | null> {
  return await listNames(borrowed, ['diff-index', '--cached', '--name-only', '-z', '--ignore-submodules', tree, '--'])
}

/**
 * Those whose file is not what an index of ours says. What only has other times is read first and so is none of them: in
 * a copied tree that is every file, and git knows line ends and encodings better than a comparison of bytes would.
 */
export async function listChanged({ run }: Borrowed, index: string): Promise<BytePath[] | null> {
  if (!existsSync(index)) return null
  const env = { GIT_INDEX_FILE: index }
  const refreshed = await run(['update-index', '-q', '--refresh'], { env })
  if (refreshed.exitCode !== 0 && refreshed.exitCode !== 1) return null
  const listed = await run(['diff-files', '--raw', '--no-abbrev', '-z', '--no-renames', '--ignore-submodules', '--'], { env })
  return listed.exitCode === 0 ? parseRaw(listed.stdout).map(({ path }) => path.toString('latin1')) : null
}

/** Those that have a filter, by the attributes of the work tree, or of an index of ours. */
export async function listFiltered(
  { run }: Borrowed,
  paths: readonly BytePath[],
  cachedIn: string | null = null,
): Promise<Set<BytePath> | null> {
  if (paths.length === 0) return new Set()
  const input = Buffer.from(paths.map(path => `${path}\0`).join(''), 'latin1')
  const where = cachedIn === null ? {} : { env: { GIT_INDEX_FILE: cachedIn } }
  const result = await run(['check-attr', ...(cachedIn === null ? [] : ['--cached']), '-z', '--stdin', 'filter'], { input, ...where })
  if (result.exitCode !== 0) return null
  const parts = result.stdout.toString('latin1').split('\0')
  return new Set(paths.filter((_, at) => parts[3 * at + 2] !== 'unspecified' && parts[3 * at + 2] !== 'unset'))
}

async function listNames({ run }: Borrowed, argv: readonly string[]): Promise<BytePath[] | null> {
  const { exitCode, stdout } = await run(argv)
  return exitCode === 0 ? stdout.toString('latin1').split('\0').filter(Boolean) : null
}

function show(path: BytePath): string {
  return showPath(Buffer.from(path, 'latin1'))
}
