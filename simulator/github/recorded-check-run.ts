import type { FakeGitHub } from './fake-github.ts'
import type { Differences, RecordedCheckRun } from './recorded-payload.ts'
import { makeRecordedPull } from './recorded-pull.ts'
import { readRef, resolveCommit } from './repository-git.ts'
import { type CheckRun, fullName, type Repository } from './state.ts'

/** The check run of a payload, on the commit it names or on one made in its place, with the pull requests it lists. */
export async function makeRecordedCheckRun(
  github: FakeGitHub,
  repository: Repository,
  given: RecordedCheckRun,
  differences: Differences,
): Promise<void> {
  for (const { id, number, head, base } of given.pull_requests) {
    const thread = { number, title: `Pull request ${number}`, body: null }
    const whole = { ...thread, id, user: null, state: 'open', locked: false, draft: false, merged: false } as const
    const repo = { name: repository.name, owner: repository.owner }
    await makeRecordedPull(github, repository, { thread, pull: { ...whole, head: { ...head, repo }, base }, author: null }, differences)
    differences.notes.push(`of pull request ${number} no more is known than its branches`)
  }
  const sha = differences.shas.get(given.head_sha) ?? (await findOrMakeCommit(github, repository, given, differences))
  if (given.check_suite?.id !== undefined) repository.checkSuites.set(sha, given.check_suite.id)
  repository.checkRuns.set(given.id, checkRunOf(given, sha, github.state.now()))
}

async function findOrMakeCommit(
  github: FakeGitHub,
  repository: Repository,
  { head_sha: sha, check_suite: suite }: RecordedCheckRun,
  { notes, shas }: Differences,
): Promise<string> {
  const known = await resolveCommit(repository.folder, sha)
  if (known) return known
  const branch = suite?.head_branch ?? 'simulated-check-run'
  const tip = await readRef(repository.folder, `refs/heads/${branch}`)
  const from = await readRef(repository.folder, `refs/heads/${repository.defaultBranch}`)
  const files = { 'simulated-check-run.txt': 'a change\n' }
  const made = tip ?? (await github.commit({ repo: fullName(repository), branch, files, ...(from ? { from } : {}) }))
  shas.set(sha, made)
  notes.push(
    `the check run stands on ${tip ? 'the newest commit' : 'a commit of its own'} of ${branch}: the repository does not have ${sha.slice(0, 12)}`,
  )
  return made
}

function checkRunOf(given: RecordedCheckRun, headSha: string, now: number): CheckRun {
  const { title = null, summary = null, text = null } = given.output
  return {
    id: given.id,
    name: given.name,
    headSha,
    externalId: given.external_id ?? '',
    detailsUrl: given.details_url ?? null,
    status: given.status,
    conclusion: given.conclusion ?? null,
    startedAt: now,
    completedAt: given.status === 'completed' ? now : null,
    output: { title, summary, text, annotations: [] },
    actions: [],
    createdAt: now,
  }
}
