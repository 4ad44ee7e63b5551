import type { Octokit } from '@octokit/rest'
import type { RepositoryName } from './repository-name.ts'

export type CheckRunFound = { id: number; url: string; status: string; conclusion: string | null; title: string; summary: string }
export type CheckRunText = {
  status: 'queued' | 'in_progress' | 'completed'
  conclusion: 'success' | 'failure' | 'neutral' | 'cancelled' | 'timed_out' | 'action_required' | null
  title: string
  summary: string
  /** Absent or empty: none. */
  actions?: readonly { identifier: string; label: string; description: string }[]
}
export type NewCheckRun = CheckRunText & { name: string; headSha: string; externalId: string }

export async function createCheckRun(api: Octokit, { owner, repo }: RepositoryName, run: NewCheckRun): Promise<CheckRunFound> {
  const { name, headSha, externalId } = run
  const { data } = await api.rest.checks.create({ owner, repo, name, head_sha: headSha, external_id: externalId, ...textOf(run) })
  return toFound(data)
}

export async function updateCheckRun(api: Octokit, { owner, repo }: RepositoryName, id: number, run: CheckRunText): Promise<CheckRunFound> {
  const { data } = await api.rest.checks.update({ owner, repo, check_run_id: id, ...textOf(run) })
  return toFound(data)
}

/** The App's own check run with this external id at a commit, by listing; null = the list does not show it. */
export async function findCheckRun(
  api: Octokit,
  { owner, repo }: RepositoryName,
  { headSha, name, externalId }: Pick<NewCheckRun, 'headSha' | 'name' | 'externalId'>,
): Promise<CheckRunFound | null> {
  // `filter: all`: the newest of a name hides the others, and a second run of the same name is a usual thing.
  const query = { owner, repo, ref: headSha, check_name: name, filter: 'all', per_page: 100 } as const
  const runs = await api.paginate(api.rest.checks.listForRef, query)
  const ours = runs.find(run => run.external_id === externalId)
  return ours ? toFound(ours) : null
}

function textOf({ status, conclusion, title, summary, actions = [] }: CheckRunText) {
  const buttons = actions.length === 0 ? {} : { actions: [...actions] }
  // GitHub takes a conclusion only together with `completed`, and then needs one.
  return { status, ...(conclusion === null ? {} : { conclusion }), output: { title, summary }, ...buttons }
}

type CheckRunData = {
  id: number | bigint
  html_url: string | null
  status: string
  conclusion: string | null
  output: { title: string | null; summary: string | null }
}

function toFound({ id, html_url, status, conclusion, output }: CheckRunData): CheckRunFound {
  return { id: Number(id), url: html_url ?? '', status, conclusion, title: output.title ?? '', summary: output.summary ?? '' }
}
