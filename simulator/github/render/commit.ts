import type { components } from '@octokit/openapi-types'
import { type Links, nodeId, repositoryApi, repositoryWeb } from '../links.ts'
import { type ChangedPath, readChanges } from '../pull-facts.ts'
import { runGit } from '../repository-git.ts'
import type { Repository } from '../state.ts'

export function renderFile({ links, repository }: { links: Links; repository: Repository }, file: ChangedPath, sha: string) {
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

export async function renderCommit({ links, repository }: { links: Links; repository: Repository }, sha: string) {
  const format = ['%T', '%P', '%an', '%ae', '%aI', '%cn', '%ce', '%cI', '%B'].join('%x00')
  const fields = (await runGit(repository.folder, ['show', '--no-patch', `--format=${format}`, sha])).stdout.toString().split('\0')
  const [tree = '', parents = '', authorName = '', authorEmail = '', authorDate = '', name = '', email = '', date = '', message = ''] =
    fields
  const api = repositoryApi(links, repository)
  const files = await readChanges(repository.folder, parents.split(' ')[0] || emptyTree, sha)
  const [additions, deletions] = [
    files.reduce((sum, each) => sum + each.additions, 0),
    files.reduce((sum, each) => sum + each.deletions, 0),
  ]
  return {
    url: `${api}/commits/${sha}`,
    sha,
    node_id: nodeId('C', repository.id),
    html_url: `${repositoryWeb(links, repository)}/commit/${sha}`,
    comments_url: `${api}/commits/${sha}/comments`,
    commit: {
      url: `${api}/git/commits/${sha}`,
      author: { name: authorName, email: authorEmail, date: authorDate },
      committer: { name, email, date },
      message: message.replace(/\n+$/, ''),
      comment_count: 0,
      tree: { sha: tree, url: `${api}/git/trees/${tree}` },
      verification: { verified: false, reason: 'unsigned', signature: null, payload: null, verified_at: null },
    },
    author: null,
    committer: null,
    parents: parents
      .split(' ')
      .filter(each => each !== '')
      .map(each => ({ sha: each, url: `${api}/commits/${each}`, html_url: `${repositoryWeb(links, repository)}/commit/${each}` })),
    stats: { additions, deletions, total: additions + deletions },
    files: files.map(file => renderFile({ links, repository }, file, sha)),
  } satisfies components['schemas']['commit']
}
