import { existsSync, lstatSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { workConfig, writeRepository } from './bare-repository.ts'
import { findRepository } from './find-repository.ts'
import { gitLimits } from './limits.ts'
import { checkSha } from './ref-name.ts'
import { type GitCall, type GitResult, runGit } from './run-git.ts'
import { showPath } from './shown-path.ts'

export type Uncommitted = {
  /** Paths whose entry in the index is not the commit's. */
  staged: string[]
  /** Paths whose file is not what the index says, byte for byte. */
  changed: string[]
  untracked: string[]
}

/**
 * What of a person's work tree is not in a commit. Null: it can not be said. Danger: where times say nothing, git reads a
 * file through the filter its configuration names, and a filter is a program. So git is given a repository of ours, with
 * theirs' objects and index and nothing else: no configuration, no attributes of their gitdir, no hook, no monitor.
 */
export async function listUncommitted(
  root: string,
  head: string,
  wallMs: number = gitLimits.uncommittedWallMs,
): Promise<Uncommitted | null> {
  return await withReader(root, wallMs, async ask => {
    const [staged, touched, untracked] = await Promise.all([
      ask(['diff-index', '--cached', '--name-only', '-z', '--no-ext-diff', '--ignore-submodules', checkSha(head), '--']),
      ask(['diff-files', '--raw', '--no-abbrev', '-z', '--no-ext-diff', '--ignore-submodules', '--']),
      ask(['ls-files', '--others', '--exclude-standard', '-z', '--', '.', ':(exclude,top).grok/out']),
    ])
    if ([staged, touched, untracked].some(result => result.exitCode !== 0)) return null
    const changed = await keepChanged(root, readRaw(touched.stdout), ask)
    return changed && { staged: names(staged.stdout).map(showPath), changed, untracked: names(untracked.stdout).map(showPath) }
  })
}

/** Brings the index's times up to date where a file was only touched, so that git takes it for what it is. */
export async function refreshIndex(root: string, wallMs: number = gitLimits.uncommittedWallMs): Promise<void> {
  // Ended at once, it would leave the person a lock that stops every later git.
  await withReader(root, wallMs, ask => ask(['update-index', '-q', '--refresh'], { endsTidily: true }))
}

/** All questions together have the one time; when it is over, each is answered with `timed-out`. */
type Ask = (argv: readonly string[], more?: Pick<GitCall, 'input' | 'endsTidily'>) => Promise<GitResult>

async function withReader<T>(root: string, wallMs: number, work: (ask: Ask) => Promise<T | null>): Promise<T | null> {
  const found = findRepository(root)
  if (found === null || !existsSync(join(found.gitDir, 'index'))) return null
  const scratch = mkdtempSync(join(tmpdir(), 'grokbot-read-'))
  const until = performance.now() + wallMs
  try {
    writeRepository(scratch, { head: 'ref: refs/heads/none', config: workConfig, alternates: [], objects: true })
    const env = { GIT_WORK_TREE: root, GIT_INDEX_FILE: join(found.gitDir, 'index'), GIT_OBJECT_DIRECTORY: found.objects }
    return await work((argv, more) =>
      runGit({ gitDir: scratch, cwd: root, argv, env, wallMs: Math.max(1, Math.round(until - performance.now())), ...more }),
    )
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

function names(list: Buffer): Buffer[] {
  const found: Buffer[] = []
  for (let from = 0; from < list.length; ) {
    const end = list.indexOf(0, from)
    if (end < 0) break
    if (end > from) found.push(list.subarray(from, end))
    from = end + 1
  }
  return found
}

type Touched = { path: Buffer; blob: string; isFile: boolean }

/** `:100644 100644 <blob> 0000000 M`, NUL, path, NUL. */
function readRaw(raw: Buffer): Touched[] {
  const parts = names(raw)
  return parts.flatMap((head, index) => {
    const path = parts[index + 1]
    if (index % 2 === 1 || path === undefined) return []
    const [was = '', is = '', blob = ''] = head.toString('latin1').split(' ')
    return [{ path, blob, isFile: was.startsWith(':100') && is === was.slice(1) }]
  })
}

/** Null when the time is over. What can not be read ends git; it counts as changed, and the rest is asked anew. */
async function keepChanged(root: string, touched: readonly Touched[], ask: Ask): Promise<string[] | null> {
  const comparable = touched.filter(({ path, isFile }) => isFile && isPlainFile(root, path))
  const same = new Set<Touched>()
  for (let at = 0; at < comparable.length; ) {
    const batch = comparable.slice(at, at + gitLimits.hashedAtOnceMax)
    const { stdout, exitCode, ended } = await ask(['hash-object', '--stdin-paths'], {
      input: Buffer.concat(batch.map(({ path }) => quoted(path))),
    })
    if (ended === 'timed-out') return null
    const blobs = stdout.toString('latin1').split('\n').slice(0, -1)
    for (const [index, file] of batch.entries()) if (blobs[index] === file.blob) same.add(file)
    at += exitCode === 0 ? batch.length : blobs.length + 1
  }
  return touched.filter(file => !same.has(file)).map(({ path }) => showPath(path))
}

/** A link would be followed, and a FIFO waited for: git calls both what they were. */
function isPlainFile(root: string, path: Buffer): boolean {
  return lstatSync(Buffer.concat([Buffer.from(`${root}/`), path]), { throwIfNoEntry: false })?.isFile() ?? false
}

/** As git reads a line with any name in it: in quotes, or one that begins with a quote or ends in a carriage return is another. */
function quoted(path: Buffer): Buffer {
  const escaped = path.toString('latin1').replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')
  return Buffer.from(`"${escaped}"\n`, 'latin1')
}
