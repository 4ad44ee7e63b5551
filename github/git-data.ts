import type { Octokit } from '@octokit/rest'
import type { RepositoryName } from './repository-name.ts'

/** `content` null = the path is taken away; text is what stands in the file, an id is an object that is there already. */
export type TreeEntry = { path: string; mode: string } & ({ text: string } | { sha: string | null })

/** A file of any bytes; returns its id. */
export async function createBlob(api: Octokit, { owner, repo }: RepositoryName, content: Uint8Array): Promise<string> {
  const encoded = Buffer.from(content).toString('base64')
  const { data } = await api.rest.git.createBlob({ owner, repo, content: encoded, encoding: 'base64' })
  return data.sha
}

/** The tree `baseTree` with these entries put in; returns its id. */
export async function createTree(
  api: Octokit,
  { owner, repo }: RepositoryName,
  baseTree: string,
  entries: readonly TreeEntry[],
): Promise<string> {
  const tree = entries.map(entry => {
    const mode = entry.mode as '100644' | '100755' | '120000' | '160000'
    const type = mode === '160000' ? ('commit' as const) : ('blob' as const)
    return { path: entry.path, mode, type, ...('text' in entry ? { content: entry.text } : { sha: entry.sha }) }
  })
  const { data } = await api.rest.git.createTree({ owner, repo, base_tree: baseTree, tree })
  return data.sha
}

export type GitCommit = { sha: string; tree: string; parents: string[]; message: string }

/** Names no author and no committer: only then GitHub signs it, as the App's own. */
export async function createCommit(
  api: Octokit,
  { owner, repo }: RepositoryName,
  { message, tree, parent }: { message: string; tree: string; parent: string },
): Promise<GitCommit> {
  const { data } = await api.rest.git.createCommit({ owner, repo, message, tree, parents: [parent] })
  return { sha: data.sha, tree: data.tree.sha, parents: data.parents.map(each => each.sha), message: data.message }
}

/** Throws 422 when there is one already. */
export async function createBranch(api: Octokit, { owner, repo }: RepositoryName, branch: string, sha: string): Promise<void> {
  await api.rest.git.createRef({ owner, repo, ref: `refs/heads/${branch}`, sha })
}

/** Throws 422 when the branch is at something else than the commit continues: it only fast-forwards. */
export async function forwardBranch(api: Octokit, { owner, repo }: RepositoryName, branch: string, sha: string): Promise<void> {
  await api.rest.git.updateRef({ owner, repo, ref: `heads/${branch}`, sha, force: false })
}

/** Pages of commits, a hundred each, that are looked through. */
const historyPagesMax = 3

/** The commits in `to` that are not in `from`, the oldest first. Throws 404 when the repository has not both. */
export async function listCommitsBetween(api: Octokit, { owner, repo }: RepositoryName, from: string, to: string): Promise<GitCommit[]> {
  const commits: GitCommit[] = []
  for (let page = 1; page <= historyPagesMax; page++) {
    const { data } = await api.rest.repos.compareCommitsWithBasehead({ owner, repo, basehead: `${from}...${to}`, per_page: 100, page })
    for (const { sha, commit, parents } of data.commits)
      commits.push({ sha, tree: commit.tree.sha, parents: parents.map(each => each.sha), message: commit.message })
    if (commits.length >= data.total_commits) break
  }
  return commits
}
