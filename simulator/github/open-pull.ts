import type { FieldError } from './answer.ts'
import { openIssue } from './open-issue.ts'
import { listPullCommits } from './pull-facts.ts'
import { git, readRef } from './repository-git.ts'
import { type Account, findRepository, fullName, type GitHubState, type Issue, type Repository } from './state.ts'
import { writePullRef } from './sync-pulls.ts'

export type NewPull = {
  author: Account | null
  title: string
  body: string | null
  /** `branch`, or `owner:branch` for a fork. */
  head: string
  /** The fork's name, where both belong to one owner. */
  headRepo?: string | undefined
  base: string
  draft: boolean
  byApp?: boolean
  maintainerCanModify?: boolean
  number?: number | undefined
}

export type OpenedPull = { kind: 'opened'; issue: Issue } | { kind: 'refused'; errors: FieldError[] }

/** GitHub's own conditions: both branches there, something between them, and no open pull request for the same two. */
export async function openPull(state: GitHubState, repository: Repository, given: NewPull): Promise<OpenedPull> {
  const refuse = (...errors: FieldError[]): OpenedPull => ({ kind: 'refused', errors })
  const head = await findHead(state, repository, given)
  const baseSha = await readRef(repository.folder, `refs/heads/${given.base}`)
  if (!head) return refuse({ resource: 'PullRequest', field: 'head', code: 'invalid' })
  if (!baseSha) return refuse({ resource: 'PullRequest', field: 'base', code: 'invalid' })
  const label = `${head.repository.owner.login}:${head.ref}`
  const present = [...repository.issues.values()].find(each => {
    const { pull } = each
    if (!pull || each.state !== 'open') return false
    return pull.head.repository?.id === head.repository.id && pull.head.ref === head.ref && pull.base.ref === given.base
  })
  if (present) return refuse({ resource: 'PullRequest', code: 'custom', message: `A pull request already exists for ${label}.` })
  const number = given.number ?? repository.nextNumber
  await writePullRef(repository, head.repository, number, head.sha)
  const ahead = await listPullCommits(repository, { head, base: { sha: baseSha } })
  if (ahead.length === 0) {
    await git(repository.folder, ['update-ref', '-d', `refs/pull/${number}/head`])
    return refuse({ resource: 'PullRequest', code: 'custom', message: `No commits between ${given.base} and ${given.head}` })
  }
  const issue = openIssue(state, repository, { ...given, number, asPull: true })
  issue.pull = {
    id: state.nextId(),
    head: { repository: head.repository, owner: head.repository.owner, ref: head.ref, sha: head.sha },
    base: { ref: given.base, sha: baseSha },
    draft: given.draft,
    merged: false,
    mergedAt: null,
    mergedBy: null,
    mergeCommitSha: null,
    maintainerCanModify: given.maintainerCanModify ?? false,
    requestedReviewers: [],
    closes: closingNumbers(given.body ?? '', fullName(repository)),
    mergeQueueEntry: null,
  }
  state.emit({ event: 'pull_request', action: 'opened', repository, issue, sender: given.author })
  return { kind: 'opened', issue }
}

async function findHead(state: GitHubState, base: Repository, given: Pick<NewPull, 'head' | 'headRepo'>) {
  const colon = given.head.indexOf(':')
  const ref = given.head.slice(colon + 1)
  const owner = colon < 0 ? base.owner.login : given.head.slice(0, colon)
  const repository = given.headRepo === undefined ? findFork(state, base, owner) : findRepository(state, `${owner}/${given.headRepo}`)
  if (!repository) return null
  const sha = await readRef(repository.folder, `refs/heads/${ref}`)
  return sha ? { repository, ref, sha } : null
}

/** The base itself for its own owner, so that another fork of that owner must be named. */
function findFork(state: GitHubState, base: Repository, owner: string): Repository | undefined {
  if (owner.toLowerCase() === base.owner.login.toLowerCase()) return base
  const fork = [...state.repositories.values()].find(
    each => each.forkOf?.id === base.id && each.owner.login.toLowerCase() === owner.toLowerCase(),
  )
  return fork ?? findRepository(state, `${owner}/${base.name}`)
}

/** GitHub's closing keywords before `#n` or `owner/name#n` of the same repository. */
export function closingNumbers(body: string, repository: string): number[] {
  const pattern = /\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+(?:([\w.-]+\/[\w.-]+))?#(\d+)\b/gi
  const found = [...body.matchAll(pattern)].filter(each => each[1] === undefined || each[1].toLowerCase() === repository.toLowerCase())
  return [...new Set(found.map(each => Number(each[2])))]
}
