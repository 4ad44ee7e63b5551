import type { components } from '@octokit/openapi-types'
import { readCommits } from '../commit-facts.ts'
import { type Links, nodeId, repositoryApi, repositoryWeb, time } from '../links.ts'
import { listRefs } from '../repository-git.ts'
import type { CheckRun, GitHubState, Issue, Pull, Repository } from '../state.ts'
import { renderApp } from './app.ts'

export function renderCheckRun(state: GitHubState, links: Links, repository: Repository, run: CheckRun) {
  const api = `${repositoryApi(links, repository)}/check-runs/${run.id}`
  const web = `${repositoryWeb(links, repository)}/runs/${run.id}`
  return {
    id: run.id,
    name: run.name,
    node_id: nodeId('CR', run.id),
    head_sha: run.headSha,
    external_id: run.externalId,
    url: api,
    html_url: web,
    details_url: run.detailsUrl ?? web,
    status: run.status,
    conclusion: run.conclusion as components['schemas']['check-run']['conclusion'],
    started_at: time(run.startedAt),
    completed_at: run.completedAt === null ? null : time(run.completedAt),
    output: {
      title: run.output.title,
      summary: run.output.summary,
      text: run.output.text,
      annotations_count: run.output.annotations.length,
      annotations_url: `${api}/annotations`,
    },
    check_suite: { id: suiteOf(state, repository, run.headSha) },
    app: renderApp(links, state.app),
    pull_requests: renderPulls(links, repository, run.headSha),
  } satisfies components['schemas']['check-run']
}

export function renderAnnotation(
  links: Links,
  repository: Repository,
  run: CheckRun,
  annotation: CheckRun['output']['annotations'][number],
) {
  const blob = `${repositoryWeb(links, repository)}/blob/${run.headSha}/${encodeURIComponent(annotation.path)}`
  return { ...annotation, blob_href: blob } satisfies components['schemas']['check-annotation']
}

/** One suite an App and commit. */
function suiteOf(state: GitHubState, repository: Repository, sha: string): number {
  const id = repository.checkSuites.get(sha) ?? state.nextId()
  repository.checkSuites.set(sha, id)
  return id
}

/** A webhook says more of the suite. Asked for again, the suite starts anew and the run stays as it is. */
export async function renderHookCheckRun(state: GitHubState, links: Links, repository: Repository, run: CheckRun, again: boolean) {
  const rest = renderCheckRun(state, links, repository, run)
  const { id } = rest.check_suite
  const runs = [...repository.checkRuns.values()].filter(each => each.headSha === run.headSha)
  const done = !again && runs.every(each => each.status === 'completed')
  const conclusion = done ? worstOf(runs) : null
  const status = done ? 'completed' : !again && runs.some(each => each.status !== 'queued') ? 'in_progress' : 'queued'
  const [facts] = await readCommits(repository.folder, [run.headSha])
  return {
    ...rest,
    check_suite: {
      id,
      node_id: nodeId('CS', id),
      head_branch: await branchOf(repository, run.headSha),
      head_sha: run.headSha,
      status,
      conclusion,
      url: `${repositoryApi(links, repository)}/check-suites/${id}`,
      before: facts?.parents[0] ?? null,
      after: run.headSha,
      pull_requests: rest.pull_requests,
      app: rest.app,
      created_at: time(Math.min(...runs.map(each => each.createdAt))),
      updated_at: time(Math.max(...runs.map(each => each.completedAt ?? each.startedAt))),
    },
  }
}

const worstFirst = ['action_required', 'timed_out', 'cancelled', 'failure', 'success', 'neutral', 'skipped']

function worstOf(runs: CheckRun[]): string | null {
  return worstFirst.find(each => runs.some(run => run.conclusion === each)) ?? null
}

async function branchOf(repository: Repository, sha: string): Promise<string | null> {
  const found = (await listRefs(repository.folder, 'refs/heads/')).find(each => each.sha === sha)
  return found ? found.ref.replace(/^refs\/heads\//, '') : null
}

/** Open ones with this head; GitHub leaves out those that come from forks. */
function renderPulls(links: Links, repository: Repository, sha: string) {
  const own = [...repository.issues.values()].flatMap(issue => (issue.pull && issue.state === 'open' ? [{ issue, pull: issue.pull }] : []))
  return own
    .filter(({ pull }) => pull.head.sha === sha && pull.head.repository?.id === repository.id)
    .map(each => renderPullMinimal(links, repository, each))
}

function renderPullMinimal(links: Links, repository: Repository, { issue, pull }: { issue: Issue; pull: Pull }) {
  const repo = { id: repository.id, url: repositoryApi(links, repository), name: repository.name }
  return {
    url: `${repositoryApi(links, repository)}/pulls/${issue.number}`,
    id: pull.id,
    number: issue.number,
    head: { ref: pull.head.ref, sha: pull.head.sha, repo },
    base: { ref: pull.base.ref, sha: pull.base.sha, repo },
  } satisfies components['schemas']['pull-request-minimal']
}
