import type { BaseResult, Mirror } from './git.ts'
import { checkSha, fullRef, mirrorRef } from './ref-name.ts'
import { git, gitError, runGit } from './run-git.ts'

/** A branch (`trunk`, `release/2.x`), a full ref or a commit of the mirror → commit and tree. */
export async function resolveBase(mirror: Mirror, name: string): Promise<BaseResult> {
  const isSha = /^[0-9a-f]{40}$/.test(name)
  const ref = isSha ? name : fullRef(name)
  const found = await resolveCommit(mirror, isSha ? name : mirrorRef(ref))
  if (found) return { kind: 'found', ref, ...found }
  const argv = ['for-each-ref', '--count=1', '--format=%(refname)', 'refs/grok/heads/']
  const any = await git({ gitDir: mirror.path, argv, wallMs: mirror.wallMs })
  if (any.length === 0) return { kind: 'empty', message: 'The repository has no commit yet, so there is nothing to check out.' }
  const what = isSha ? `commit ${name}` : `branch ${ref.replace(/^refs\/heads\//, '')}`
  return { kind: 'missing', message: `The repository has no ${what} (any more).` }
}

async function resolveCommit(mirror: Mirror, name: string): Promise<{ sha: string; tree: string } | null> {
  const input = `${name}^{commit}\n${name}^{tree}\n`
  const output = await git({ gitDir: mirror.path, argv: ['cat-file', '--batch-check=%(objectname)'], input, wallMs: mirror.wallMs })
  const [sha, tree] = output.toString('utf8').split('\n') as [string, string]
  return /^[0-9a-f]{40}$/.test(sha) && /^[0-9a-f]{40}$/.test(tree) ? { sha, tree } : null
}

/** The merge base of two commits; null when their histories never met, which is an error and not an empty change. */
export async function mergeBase(mirror: Mirror, one: string, other: string): Promise<string | null> {
  const call = { gitDir: mirror.path, argv: ['merge-base', '--end-of-options', checkSha(one), checkSha(other)], wallMs: mirror.wallMs }
  const result = await runGit(call)
  if (result.exitCode === 0) return result.stdout.toString('utf8').trim()
  if (result.exitCode === 1) return null
  throw gitError(call, result)
}
