import type { Octokit } from '@octokit/rest'
import type { RepositoryName } from './repository-name.ts'

export type PullFound = { number: number; url: string; body: string; author: string; headSha: string; draft: boolean; state: string }
export type NewPull = { head: string; base: string; title: string; body: string; draft: boolean }

export async function createPull(api: Octokit, { owner, repo }: RepositoryName, pull: NewPull): Promise<PullFound> {
  const { data } = await api.rest.pulls.create({ owner, repo, ...pull, maintainer_can_modify: false })
  return toFound(data)
}

/** Every pull request, open or closed, from this branch of the same repository. */
export async function listPullsFrom(api: Octokit, { owner, repo }: RepositoryName, branch: string): Promise<PullFound[]> {
  const pulls = await api.paginate(api.rest.pulls.list, { owner, repo, head: `${owner}:${branch}`, state: 'all', per_page: 100 })
  return pulls.map(toFound)
}

export type PullFacts = {
  isOpen: boolean
  headSha: string
  headRef: string
  /** The head lies in another repository, or in one that is gone. */
  fork: boolean
  baseRef: string
  baseSha: string
}

export async function readPull(api: Octokit, { owner, repo }: RepositoryName, number: number): Promise<PullFacts> {
  const { data } = await api.rest.pulls.get({ owner, repo, pull_number: number })
  return {
    isOpen: data.state === 'open',
    headSha: data.head.sha,
    headRef: data.head.ref,
    fork: data.head.repo?.id !== data.base.repo.id,
    baseRef: data.base.ref,
    baseSha: data.base.sha,
  }
}

type PullData = {
  number: number
  html_url: string
  body: string | null
  user: { login: string } | null
  head: { sha: string }
  draft?: boolean
  state: string
}

function toFound(data: PullData): PullFound {
  return {
    number: data.number,
    url: data.html_url,
    body: data.body ?? '',
    author: data.user?.login ?? 'ghost',
    headSha: data.head.sha,
    draft: data.draft ?? false,
    state: data.state,
  }
}
