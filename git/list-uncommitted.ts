import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { workConfig, writeRepository } from './bare-repository.ts'
import { findRepository } from './find-repository.ts'
import { checkSha } from './ref-name.ts'
import { runGit } from './run-git.ts'

export type Uncommitted = {
  /** Paths whose entry in the index is not the commit's. */
  staged: string[]
  /** Paths whose file is not what the index says, byte for byte. */
  changed: string[]
  untracked: string[]
}

const wallMs = 60_000
/** Above this many, times are taken for changes: it is a count for people. */
const comparedMax = 2_000

/**
 * What of a person's work tree is not in a commit. Null: it can not be said. Danger: where times say nothing, git reads a
 * file through the filter its configuration names, and a filter is a program. So git is given a repository of ours, with
 * theirs' objects and index and nothing else: no configuration, no attributes of their gitdir, no hook, no monitor.
 */
export async function listUncommitted(root: string, head: string): Promise<Uncommitted | null> {
  return await withReader(root, async ask => {
    const [staged, touched, untracked] = await Promise.all([
      ask(['diff-index', '--cached', '--name-only', '-z', '--no-ext-diff', '--ignore-submodules', checkSha(head), '--']),
      ask(['diff-files', '--raw', '--no-abbrev', '-z', '--no-ext-diff', '--ignore-submodules', '--']),
      ask(['ls-files', '--others', '--exclude-standard', '-z', '--', '.', ':(exclude,top).grok/out']),
    ])
    if (staged === null || touched === null || untracked === null) return null
    return { staged: names(staged), changed: await keepChanged(readRaw(touched), ask), untracked: names(untracked) }
  })
}

/** Brings the index's times up to date where a file was only touched, so that git takes it for what it is. */
export async function refreshIndex(root: string): Promise<void> {
  await withReader(root, ask => ask(['update-index', '-q', '--refresh']))
}

type Ask = (argv: readonly string[], input?: string) => Promise<string | null>

async function withReader<T>(root: string, work: (ask: Ask) => Promise<T | null>): Promise<T | null> {
  const found = findRepository(root)
  if (found === null || !existsSync(join(found.gitDir, 'index'))) return null
  const scratch = mkdtempSync(join(tmpdir(), 'grokbot-read-'))
  try {
    writeRepository(scratch, { head: 'ref: refs/heads/none', config: workConfig, alternates: [], objects: true })
    const env = { GIT_WORK_TREE: root, GIT_INDEX_FILE: join(found.gitDir, 'index'), GIT_OBJECT_DIRECTORY: found.objects }
    return await work(async (argv, input) => {
      const result = await runGit({ gitDir: scratch, cwd: root, argv, env, wallMs, ...(input === undefined ? {} : { input }) })
      return result.exitCode === 0 || argv[0] === 'update-index' ? result.stdout.toString('utf8') : null
    })
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

function names(list: string): string[] {
  return list.split('\0').filter(name => name !== '')
}

type Touched = { path: string; blob: string; regular: boolean }

/** `:100644 100644 <blob> 0000000 M`, NUL, path, NUL. */
function readRaw(raw: string): Touched[] {
  const parts = names(raw)
  return parts.flatMap((head, index) => {
    if (index % 2 === 1) return []
    const [was = '', is = '', blob = ''] = head.split(' ')
    // A link would be followed, so only a file that was one and still is gets read.
    return [{ path: parts[index + 1] ?? '', blob, regular: was.startsWith(':100') && is === was.slice(1) }]
  })
}

async function keepChanged(touched: readonly Touched[], ask: Ask): Promise<string[]> {
  const comparable = touched.filter(({ path, regular }) => regular && !path.includes('\n'))
  if (comparable.length === 0 || comparable.length > comparedMax) return touched.map(({ path }) => path)
  const input = comparable.map(({ path }) => `${path}\n`).join('')
  const blobs = (await ask(['hash-object', '--stdin-paths'], input))?.split('\n') ?? []
  const same = new Set(comparable.filter(({ blob }, index) => blobs[index] === blob).map(({ path }) => path))
  return touched.map(({ path }) => path).filter(path => !same.has(path))
}
