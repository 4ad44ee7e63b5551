import type { components } from '@octokit/openapi-types'
import type { ChangedPath } from '../changed-path.ts'
import { readChanges } from '../changed-path.ts'
import { type CommitFacts, readCommits } from '../commit-facts.ts'
import { type Links, nodeId, repositoryApi, repositoryWeb, time } from '../links.ts'
import type { Repository } from '../state.ts'

type View = { links: Links; repository: Repository }

export function renderFile({ links, repository }: View, file: ChangedPath, sha: string) {
  const api = repositoryApi(links, repository)
  const web = repositoryWeb(links, repository)
  return {
    sha: file.sha,
    filename: file.filename,
    status: file.status,
    additions: file.additions,
    deletions: file.deletions,
    changes: file.additions + file.deletions,
    blob_url: `${web}/blob/${sha}/${encodeURIComponent(file.filename)}`,
    raw_url: `${web}/raw/${sha}/${encodeURIComponent(file.filename)}`,
    contents_url: `${api}/contents/${encodeURIComponent(file.filename)}?ref=${sha}`,
    ...(file.patch === undefined ? {} : { patch: file.patch }),
    ...(file.previous === undefined ? {} : { previous_filename: file.previous }),
  } satisfies components['schemas']['diff-entry']
}

/** The tree every first commit is compared with. */
const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

/** As `GET /commits/{ref}` shows it, with what it changes. */
export async function renderCommit(view: View, sha: string) {
  const { folder } = view.repository
  const [facts] = await readCommits(folder, [sha])
  if (!facts) throw new Error(`no commit ${sha}`)
  const files = await readChanges(folder, facts.parents[0] ?? emptyTree, sha)
  const additions = files.reduce((sum, each) => sum + each.additions, 0)
  const deletions = files.reduce((sum, each) => sum + each.deletions, 0)
  return {
    ...renderListedCommit(view, facts),
    stats: { additions, deletions, total: additions + deletions },
    files: files.map(file => renderFile(view, file, sha)),
  } satisfies components['schemas']['commit']
}

/** As a list shows it. */
export function renderListedCommit({ links, repository }: View, facts: CommitFacts) {
  const { sha } = facts
  const api = repositoryApi(links, repository)
  return {
    url: `${api}/commits/${sha}`,
    sha,
    node_id: nodeId('C', repository.id),
    html_url: `${repositoryWeb(links, repository)}/commit/${sha}`,
    comments_url: `${api}/commits/${sha}/comments`,
    commit: {
      url: `${api}/git/commits/${sha}`,
      author: facts.author,
      committer: facts.committer,
      message: facts.message,
      comment_count: 0,
      tree: { sha: facts.tree, url: `${api}/git/trees/${facts.tree}` },
      verification: renderVerification(repository, facts),
    },
    author: null,
    committer: null,
    parents: renderParents({ links, repository }, facts, 'commits'),
  } satisfies components['schemas']['commit']
}

/** As the Git data API shows it: the object and no more. */
export function renderGitCommit({ links, repository }: View, facts: CommitFacts) {
  const api = repositoryApi(links, repository)
  return {
    sha: facts.sha,
    node_id: nodeId('C', repository.id),
    url: `${api}/git/commits/${facts.sha}`,
    html_url: `${repositoryWeb(links, repository)}/commit/${facts.sha}`,
    author: facts.author,
    committer: facts.committer,
    tree: { sha: facts.tree, url: `${api}/git/trees/${facts.tree}` },
    message: facts.message,
    parents: renderParents({ links, repository }, facts, 'git/commits'),
    verification: renderVerification(repository, facts),
  } satisfies components['schemas']['git-commit']
}

function renderParents({ links, repository }: View, facts: CommitFacts, folder: string) {
  const api = repositoryApi(links, repository)
  const web = repositoryWeb(links, repository)
  return facts.parents.map(sha => ({ sha, url: `${api}/${folder}/${sha}`, html_url: `${web}/commit/${sha}` }))
}

/** Verified is what GitHub signed itself; whose key any other signature is of, nobody has told it. */
function renderVerification(repository: Repository, { sha, signed }: CommitFacts) {
  const signedAt = repository.signedCommits.get(sha)
  const reason: 'unsigned' | 'valid' | 'unknown_key' = signed === null ? 'unsigned' : signedAt === undefined ? 'unknown_key' : 'valid'
  return {
    verified: reason === 'valid',
    reason,
    signature: signed?.signature ?? null,
    payload: signed?.payload ?? null,
    verified_at: signedAt === undefined ? null : time(signedAt),
  }
}
