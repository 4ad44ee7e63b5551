import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { explainRemote } from './explain-remote.ts'
import { findRepository } from './find-repository.ts'
import type { FetchResult, Mirror, Remote } from './git.ts'
import { gitLimits } from './limits.ts'
import { checkRefName, checkSha, mirrorRef } from './ref-name.ts'
import { openRemote } from './remote-call.ts'
import { lockRepository } from './repository-lock.ts'
import { git, gitError, runGit } from './run-git.ts'
import { statAt } from './stat-at.ts'

export type FetchOptions = Remote & {
  /** More than the branches: `refs/pull/N/head`. A value is the commit the API named; it is checked after the fetch. */
  refs?: Readonly<Record<string, string | null>>
  /** By their ids, for what no branch leads to any more. Where the remote hands one of them out no longer, the fetch fails. */
  commits?: readonly string[]
  lockWaitMs?: number
}

/**
 * Brings the mirror up to date: all branches, complete, pruned, and the named refs. `refs/heads/*` lands in
 * `refs/grok/heads/*` and the rest of `refs/` in `refs/grok/`, so that no name of the remote can be mistaken for one of
 * ours. Safe to repeat; under the mirror's lock.
 */
export async function fetchMirror(mirror: Mirror, options: FetchOptions): Promise<FetchResult> {
  const refs = Object.entries(options.refs ?? {})
  for (const [ref] of refs) checkRefName(ref)
  const lock = await lockRepository(mirror.lock, options.lockWaitMs ?? gitLimits.lockWaitMs, options.signal)
  if (!lock) return { kind: 'failed', reason: 'timed-out', message: 'another process kept the mirror locked' }
  try {
    removeStale(mirror)
    // From a shallow clone git takes no branch at all, and calls that a success.
    if (isShallow(options))
      return { kind: 'failed', reason: 'shallow', message: 'the repository is a shallow clone; its history is needed in full' }
    const fetched = await fetchRefs(mirror, options, lock.fd)
    if (fetched.kind !== 'fetched') return fetched
    if (existsSync(join(mirror.path, 'shallow'))) throw new Error(`the mirror ${mirror.path} has become shallow`)
    await mergePacks(mirror, lock.fd)
    return await verifyRefs(mirror, refs)
  } finally {
    lock.release()
  }
}

async function fetchRefs(mirror: Mirror, options: FetchOptions, lockFd: number): Promise<FetchResult> {
  const remote = await openRemote(options)
  const more = Object.keys(options.refs ?? {}).filter(ref => !ref.startsWith('refs/heads/'))
  const refspecs = [...['refs/heads/*', ...more].map(ref => `+${ref}:${mirrorRef(ref)}`), ...(options.commits ?? []).map(checkSha)]
  const call = {
    gitDir: mirror.path,
    argv: [
      'fetch',
      '--prune',
      '--no-tags',
      '--no-auto-maintenance',
      '--no-recurse-submodules',
      '--no-write-fetch-head',
      '--quiet',
      '--end-of-options',
      remote.url,
      ...refspecs,
    ],
    env: remote.env,
    secrets: remote.secrets,
    wallMs: mirror.wallMs,
    signal: options.signal,
    lockFd,
  }
  const result = await runGit(call)
  if (result.exitCode === 0) return { kind: 'fetched' }
  return explainRemote(options, 'git-upload-pack', more, result.ended, gitError(call, result).message)
}

/** Only a local folder can be one: no server hands out a shallow repository. Its list of cut commits says so, without a git in it. */
function isShallow({ url }: Remote): boolean {
  const found = url.startsWith('/') ? findRepository(url) : null
  return found !== null && (statAt(join(found.common, 'shallow'))?.size ?? 0) > 0
}

/**
 * Every fetch leaves a pack, and git looks through all of them. The small ones are put together now and then; no object
 * is dropped, reached or not: a task may stand on a commit that its branch has left.
 */
async function mergePacks(mirror: Mirror, lockFd: number): Promise<void> {
  const packs = readdirSync(join(mirror.objects, 'pack')).filter(name => name.endsWith('.pack'))
  if (packs.length <= gitLimits.packsMax) return
  await git({ gitDir: mirror.path, argv: ['repack', '--geometric=2', '-d', '-q'], wallMs: mirror.wallMs, lockFd })
}

async function verifyRefs(mirror: Mirror, refs: [string, string | null][]): Promise<FetchResult> {
  if (refs.length === 0) return { kind: 'fetched' }
  const input = refs.map(([ref]) => `${mirrorRef(ref)}\n`).join('')
  const call = { gitDir: mirror.path, argv: ['cat-file', '--batch-check=%(objectname)'], input, wallMs: mirror.wallMs }
  const lines = (await git(call)).toString('utf8').split('\n')
  for (const [index, [ref, expected]] of refs.entries()) {
    const actual = lines[index] as string
    if (!/^[0-9a-f]{40}$/.test(actual)) return { kind: 'ref-missing', ref, message: `the repository has no ${ref}` }
    if (expected !== null && actual !== expected) {
      const message = `${ref} is at ${actual}, but ${expected} was expected`
      return { kind: 'ref-moved', ref, expected, actual, message }
    }
  }
  return { kind: 'fetched' }
}

/**
 * Who holds the lock is the only writer, orphans included, so whatever lock file or part of a pack is there now belongs
 * to a process that is dead.
 */
function removeStale(mirror: Mirror): void {
  for (const name of listFiles(mirror.path, 'refs')) {
    if (name.endsWith('.lock')) rmSync(name, { force: true })
  }
  for (const entry of readdirSync(mirror.path)) {
    if (entry.endsWith('.lock')) rmSync(join(mirror.path, entry), { force: true })
  }
  for (const entry of readdirSync(mirror.objects)) {
    if (/^(tmp_objdir-|incoming-)/.test(entry)) rmSync(join(mirror.objects, entry), { recursive: true, force: true })
  }
  for (const entry of readdirSync(join(mirror.objects, 'pack'))) {
    if (/^(tmp_|\.tmp-)|\.(lock|keep)$/.test(entry)) rmSync(join(mirror.objects, 'pack', entry), { force: true })
  }
}

function listFiles(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
}
