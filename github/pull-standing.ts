import type { Octokit } from '@octokit/rest'
import { classifyError } from './classify-error.ts'
import type { RepositoryName } from './repository-name.ts'

/** Of a pull request, what may have changed while it was worked on. */
export type PullStanding = {
  state: 'open' | 'closed' | 'merged'
  locked: boolean
  headSha: string
  headRef: string
  /** The head lies in another repository, or in one that is gone. */
  fork: boolean
  /** It waits in a merge queue, from which a push would throw it out. */
  inMergeQueue: boolean
}

/** As it is now. Throws what Octokit throws, 404 among it. */
export async function readPullStanding(api: Octokit, name: RepositoryName, number: number): Promise<PullStanding> {
  const { data } = await api.rest.pulls.get({ owner: name.owner, repo: name.repo, pull_number: number })
  const isOpen = data.state === 'open'
  return {
    state: isOpen ? 'open' : data.merged ? 'merged' : 'closed',
    locked: data.locked,
    headSha: data.head.sha,
    headRef: data.head.ref,
    fork: data.head.repo?.id !== data.base.repo.id,
    inMergeQueue: isOpen && (await isInMergeQueue(api, name, number, data.base.ref)),
  }
}

const query = `query ($owner: String!, $repo: String!, $number: Int!) {
  repository(owner: $owner, name: $repo) { pullRequest(number: $number) { mergeQueueEntry { position } } }
}`
type Answer = { repository: { pullRequest: { mergeQueueEntry: { position: number } | null } | null } | null }

/**
 * Only GraphQL says it. A server that has none, does not know the field, or does not let the App read it, is asked for the
 * branches that a queue makes for what it tests.
 */
async function isInMergeQueue(api: Octokit, { owner, repo }: RepositoryName, number: number, baseRef: string): Promise<boolean> {
  try {
    const { repository } = await api.graphql<Answer>(query, { owner, repo, number })
    return (repository?.pullRequest?.mergeQueueEntry ?? null) !== null
  } catch (error) {
    if (!isAnswerWithErrors(error) && classifyError(error).kind !== 'rejected') throw error
    const ref = `heads/gh-readonly-queue/${baseRef}/pr-${number}-`
    const { data } = await api.rest.git.listMatchingRefs({ owner, repo, ref })
    return data.length > 0
  }
}

/** GraphQL answers 200 also when it refuses; Octokit's class for that is in none of the packages we depend on. */
function isAnswerWithErrors(error: unknown): boolean {
  return error instanceof Error && error.name === 'GraphqlResponseError'
}
