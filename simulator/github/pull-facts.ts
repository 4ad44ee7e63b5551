import { type ChangedPath, readChanges } from './changed-path.ts'
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
  const merge = pull.merged ? null : await runGit(folder, ['merge-tree', '--write-tree', base, pull.head.sha])
  return {
    mergeable: merge === null ? null : merge.exitCode === 0,
    commits: commits.length,
    additions: files.reduce((sum, file) => sum + file.additions, 0),
    deletions: files.reduce((sum, file) => sum + file.deletions, 0),
    changedFiles: files.length,
  }
}

/** What the pull request changes against its merge base, as it is or as it was at an older commit of it. */
export async function readPullFiles(repository: Repository, pull: Pull, sha: string = pull.head.sha): Promise<ChangedPath[]> {
  return readChanges(repository.folder, await mergeBase(repository, pull, sha), sha)
}

/** Oldest first. */
export async function listPullCommits(repository: Repository, pull: Pull): Promise<string[]> {
  const listed = await git(repository.folder, ['rev-list', '--reverse', '--topo-order', pull.head.sha, `^${pull.base.sha}`])
  return listed.split('\n').filter(line => line !== '')
}

export async function mergeBase(repository: Repository, pull: Pull, sha: string = pull.head.sha): Promise<string> {
  const found = await runGit(repository.folder, ['merge-base', pull.base.sha, sha])
  return found.exitCode === 0 ? found.stdout.toString().trim() : pull.base.sha
}
