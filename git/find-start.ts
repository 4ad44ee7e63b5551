import { type Borrowed, borrowRepository, type Unusable } from './borrow-repository.ts'
import { findWorkTree } from './find-repository.ts'
import { gitLimits } from './limits.ts'
import { checkSha } from './ref-name.ts'

export type Start =
  /** `branch` is the one that is checked out, `HEAD` when none is; `ref` one the commit can be fetched by. */
  | { kind: 'found'; root: string; branch: string; base: { sha: string; ref: string } }
  | { kind: 'no-work-tree' }
  | { kind: 'no-commit'; root: string }
  /** The commit is on no branch, tag or remote's branch, so it can not be fetched. */
  | { kind: 'nameless'; sha: string }
  | Unusable

/** Where work on a person's repository starts from: HEAD, or what `wanted` names. Nothing of it is started or written. */
export async function findStart(folder: string, wanted: string | null, wallMs: number = gitLimits.theirsWallMs): Promise<Start> {
  const root = findWorkTree(folder)
  if (root === null) return { kind: 'no-work-tree' }
  return await borrowRepository(root, wallMs, async ({ run }): Promise<Start> => {
    const ask = asking(run)
    const [symbolic, sha, named] = await Promise.all([
      ask(['symbolic-ref', '--short', '-q', 'HEAD']),
      ask(['rev-parse', '--verify', '--quiet', '--end-of-options', `${wanted ?? 'HEAD'}^{commit}`]),
      ask(['rev-parse', '--symbolic-full-name', wanted ?? 'HEAD']),
    ])
    if (sha === null) return { kind: 'no-commit', root }
    const ref = named !== null && /^refs\/(?:heads|tags|remotes)\//.test(named) ? named : await holderOf(sha, ask)
    if (ref === null) return { kind: 'nameless', sha }
    return { kind: 'found', root, branch: symbolic ?? 'HEAD', base: { sha, ref: ref.replace(/^refs\/heads\//, '') } }
  })
}

/** A file of a commit as text; null when it is not there. */
export async function readCommitted(root: string, sha: string, file: string): Promise<string | null> {
  const read = await borrowRepository(root, gitLimits.theirsWallMs, async ({ run }) => {
    const { exitCode, stdout } = await run(['cat-file', 'blob', `${checkSha(sha)}:${file}`])
    return exitCode === 0 ? stdout.toString('utf8') : null
  })
  return typeof read === 'string' ? read : null
}

async function holderOf(sha: string, ask: Ask): Promise<string | null> {
  const places = ['refs/heads', 'refs/tags', 'refs/remotes']
  return (await ask(['for-each-ref', '--count=1', '--format=%(refname)', `--contains=${sha}`, ...places])) || null
}

type Ask = (argv: readonly string[]) => Promise<string | null>

/** What git printed, without the last line end; null when it ended otherwise than with 0. */
function asking(run: Borrowed['run']): Ask {
  return async argv => {
    const { exitCode, stdout } = await run(argv)
    return exitCode === 0 ? stdout.toString('utf8').replace(/\n$/, '') : null
  }
}
