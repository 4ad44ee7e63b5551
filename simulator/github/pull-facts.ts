import { type ChangedPath, readChanges } from './changed-path.ts'
import { rememberAnswer } from './git-memory.ts'
import { git, readRef, runGit } from './repository-git.ts'
import type { Pull, Repository } from './state.ts'

export type PullFacts = { mergeable: boolean | null; commits: number; additions: number; deletions: number; changedFiles: number }

/** Before anything was found out. */
export const noFacts: PullFacts = { mergeable: null, commits: 0, additions: 0, deletions: 0, changedFiles: 0 }

export async function readPullFacts(repository: Repository, pull: Pull): Promise<PullFacts> {
  const { folder } = repository
  const [files, commits] = await Promise.all([readPullFiles(repository, pull), listPullCommits(repository, pull)])
  // Against the base branch as it is now: others merge meanwhile.
  const base = (await readRef(folder, `refs/heads/${pull.base.ref}`)) ?? pull.base.sha
  return {
    mergeable: pull.merged ? null : await merges(folder, base, pull.head.sha),
    commits: commits.length,
    additions: files.reduce((sum, file) => sum + file.additions, 0),
    deletions: files.reduce((sum, file) => sum + file.deletions, 0),
    changedFiles: files.length,
  }
}

/** What the pull request changes against its merge base, as it is or as it was at an older commit of it. */
export async function readPullFiles(repository: Repository, pull: Pull, sha: string = pull.head.sha): Promise<readonly ChangedPath[]> {
  return readChanges(repository.folder, await mergeBase(repository, pull, sha), sha)
}

/** Oldest first. */
export function listPullCommits(
  { folder }: Repository,
  { head, base }: { head: { sha: string }; base: { sha: string } },
): Promise<readonly string[]> {
  const [to, from] = [head.sha, base.sha]
  return rememberAnswer(['commits', folder, from, to], async () => {
    const listed = await git(folder, ['rev-list', '--reverse', '--topo-order', to, `^${from}`])
    return listed.split('\n').filter(line => line !== '')
  })
}

export function mergeBase({ folder }: Repository, pull: Pull, sha: string = pull.head.sha): Promise<string> {
  const base = pull.base.sha
  return rememberAnswer(['merge-base', folder, base, sha], async () => {
    const found = await runGit(folder, ['merge-base', base, sha])
    return found.exitCode === 0 ? found.stdout.toString().trim() : base
  })
}

function merges(folder: string, base: string, head: string): Promise<boolean> {
  return rememberAnswer(['merges', folder, base, head], async () => {
    return (await runGit(folder, ['merge-tree', '--write-tree', base, head])).exitCode === 0
  })
}
