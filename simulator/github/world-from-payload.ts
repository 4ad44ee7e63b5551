import { accountOf, addAccount } from './add-account.ts'
import type { FakeGitHub } from './fake-github.ts'
import { install } from './installation.ts'
import { makeRecordedCheckRun } from './recorded-check-run.ts'
import { type Differences, Recorded, withShas } from './recorded-payload.ts'
import { makeRecordedPull, replaceSha } from './recorded-pull.ts'
import { makeRecordedComment, makeRecordedReview } from './recorded-review.ts'
import { renderApp } from './render/app.ts'
import { fullName, type Issue, type Repository, type Role, requireRepository } from './state.ts'

type PayloadWorldOptions = {
  /** A folder of files, a work tree, or a bare repository: what the payload's repository holds. */
  from: string
  /** The role of who wrote the comment or the review, or else of the sender, has there. */
  role: Role
}

export type PayloadWorld =
  | { kind: 'made'; payload: object; notes: string[] }
  /** The payload names something in a way no webhook does. `path` is where. */
  | { kind: 'unusable'; path: string; message: string }

/**
 * Makes everything a recorded webhook speaks of: repository, accounts, issue or pull request, comment, review, check run,
 * the App's installation, with the payload's own ids and numbers, so that what is read back from the API fits what it says.
 */
export async function worldFromPayload(github: FakeGitHub, recorded: unknown, options: PayloadWorldOptions): Promise<PayloadWorld> {
  const parsed = Recorded.safeParse(recorded)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    return { kind: 'unusable', path: issue?.path.join('.') ?? '', message: issue?.message ?? 'is not a webhook' }
  }
  const payload = parsed.data
  if (payload.sender) addAccount(github.state, payload.sender)
  // What is delivered is what was recorded: reading it has left out the parts that are not looked at.
  const whole = recorded as object
  if (!payload.repository) return { kind: 'made', payload: whole, notes: [] }
  const differences: Differences = { notes: [], shas: new Map() }
  const { repository, installationId } = await makeRepository(github, payload, payload.repository, options)
  await makeThread(github, payload, repository, differences)
  if (payload.check_run) await makeRecordedCheckRun(github, repository, payload.check_run, differences)
  return { kind: 'made', payload: adaptPayload(github, payload, whole, { ...differences, installationId }), notes: differences.notes }
}

async function makeRepository(
  github: FakeGitHub,
  payload: Recorded,
  given: NonNullable<Recorded['repository']>,
  { from, role }: PayloadWorldOptions,
): Promise<{ repository: Repository; installationId: number }> {
  const owner = addAccount(github.state, given.owner)
  const installation = install(github.state, owner, payload.installation?.id)
  const { name, id, private: isPrivate, default_branch: branch } = given
  const defaultBranch = branch === undefined ? {} : { defaultBranch: branch }
  await github.addRepository({ owner: owner.login, name, id, private: isPrivate, from, ...defaultBranch })
  const repo = `${owner.login}/${name}`
  const actor = payload.comment?.user ?? payload.review?.user ?? payload.sender
  if (actor) github.setPermission(repo, addAccount(github.state, actor).login, role)
  if (given.archived) github.archive(repo)
  if (!given.has_issues) github.disableIssues(repo)
  return { repository: requireRepository(github.state, repo), installationId: installation.id }
}

async function makeThread(github: FakeGitHub, payload: Recorded, repository: Repository, differences: Differences): Promise<void> {
  const { issue: given, pull_request: pull, comment, review } = payload
  const thread = pull ?? given
  if (!thread) return
  const { state } = github
  const author = accountOf(state, thread.user)
  const isPull = pull !== undefined || given?.pull_request !== undefined
  const repo = fullName(repository)
  const { number, id, title, body } = thread
  const issue: Issue = isPull
    ? await makeRecordedPull(github, repository, { thread, pull, author, comment }, differences)
    : github.openIssue({ repo, author: author?.login ?? null, title, body, number, id })
  issue.id = id
  issue.locked = thread.locked
  if (thread.state === 'closed') Object.assign(issue, { state: 'closed', closedAt: state.now() })
  const { path } = comment ?? {}
  if (issue.pull) {
    await replaceSha(repository, payload.before, issue.pull.base.sha, differences)
    const ofPull = { repository, issue, pull: issue.pull }
    if (review) makeRecordedReview(state, ofPull, review)
    if (comment && path !== undefined) makeRecordedComment(state, ofPull, { ...comment, path })
  }
  if (comment && path === undefined) {
    github.comment({ repo, number, author: accountOf(state, comment.user)?.login ?? null, body: comment.body ?? '', id: comment.id })
  }
}

type Made = Differences & { installationId: number }

/** What is delivered fits the world that was made: its commits, its installation, and the App whose button was pressed. */
function adaptPayload(github: FakeGitHub, payload: Recorded, whole: object, { notes, shas, installationId }: Made): object {
  let adapted = withShas(whole, shas) as Record<string, unknown>
  for (const [from, to] of shas) notes.push(`${from.slice(0, 12)} is ${to.slice(0, 12)} here`)
  if (!payload.installation) {
    // What GitHub sends to an App always names the installation; what was recorded by a repository's own hook does not.
    adapted = { ...adapted, installation: { id: installationId, node_id: '' } }
    notes.push('the payload names no installation; one was added')
  }
  if (payload.check_run && (payload.requested_action || payload.action === 'rerequested')) {
    // GitHub tells no App of another's buttons.
    const app = renderApp({ api: github.url, web: github.webUrl }, github.state.app)
    const run = adapted.check_run as { check_suite?: object }
    adapted = { ...adapted, check_run: { ...run, app, ...(run.check_suite ? { check_suite: { ...run.check_suite, app } } : {}) } }
    notes.push('the check run is one of the simulated App')
  }
  return adapted
}
