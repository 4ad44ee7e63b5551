import type { Octokit } from '@octokit/rest'

type RepositoryName = { owner: string; repo: string }
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
