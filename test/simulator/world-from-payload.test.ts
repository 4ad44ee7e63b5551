import { join } from 'node:path'
import type { Octokit } from '@octokit/rest'
import webhookExamples from '@octokit/webhooks-examples'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Simulator, startSimulator, worldFromPayload } from '../../simulator/index.ts'
import { git, judge, mint, octokit, outcome, useSimulator } from './fixture.ts'

const fixture = useSimulator()
type Example = { action?: string; repository: { full_name: string; id: number; default_branch: string }; [key: string]: unknown }
const examples = webhookExamples as unknown as { name: string; examples: Example[] }[]
const events = ['issue_comment', 'issues', 'pull_request', 'pull_request_review', 'pull_request_review_comment', 'push', 'check_run']
/** Of each kind of event so many; the others differ in what is not taken over. */
const examplesEach = 2
const cases = events.flatMap(event =>
  (examples.find(each => each.name === event)?.examples ?? [])
    .slice(0, examplesEach)
    .map((payload, at) => [`${event}.${payload.action ?? ''} no. ${at}`, payload] as const),
)

let from: string

beforeAll(async () => {
  from = join(fixture.scratch, 'source')
  await git(fixture.scratch, ['init', '-q', '-b', 'develop', from])
  await git(from, ['commit', '-q', '--allow-empty', '-m', 'first'])
  await git(from, ['checkout', '-q', '--detach'])
})

async function withSimulator<T>(work: (simulator: Simulator) => Promise<T>): Promise<T> {
  const simulator = await startSimulator()
  try {
    const findings = judge(simulator.github)
    const made = await work(simulator)
    expect(findings).toEqual([])
    return made
  } finally {
    await simulator.close()
  }
}

test('there are examples to play', () => {
  expect(cases.length).toBeGreaterThan(12)
})

describe('a recorded example of GitHub becomes the world it was sent from, with its ids and texts', () => {
  test.each(events)(
    '%s',
    async event => {
      for (const [name, payload] of cases.filter(([each]) => each.startsWith(`${event}.`))) await makeOne(name, payload)
    },
    120_000,
  )
})

type Thread = { number: number; title: string; body: string | null; id: number; user: { login: string } | null }

async function makeOne(name: string, payload: Example): Promise<void> {
  await withSimulator(async ({ github }) => {
    const made = await worldFromPayload(github, payload, { from, role: 'write' })
    expect(made, name).toMatchObject({
      kind: 'made',
      payload: { repository: payload.repository, installation: { id: expect.any(Number) } },
    })
    const { full_name, id, default_branch } = payload.repository
    const [owner = '', repo = ''] = full_name.split('/')
    const octo = octokit(github, await mint(github, owner))
    expect((await octo.rest.repos.get({ owner, repo })).data, name).toMatchObject({ id, full_name, default_branch })
    expect(await github.refs(full_name), name).toHaveProperty([`refs/heads/${default_branch}`])
    const thread = (payload.pull_request ?? payload.issue) as Thread | undefined
    if (!thread) return
    const read = payload.pull_request
      ? octo.rest.pulls.get({ owner, repo, pull_number: thread.number })
      : octo.rest.issues.get({ owner, repo, issue_number: thread.number })
    const { id: threadId, title, body, user } = thread
    expect(await outcome(read), name).toMatchObject({
      data: { id: threadId, title, body: body ?? null, user: user && { login: user.login } },
    })
    const comment = payload.comment as { id: number; body: string; path?: string } | undefined
    if (!comment || comment.path !== undefined) return
    const { data } = await octo.rest.issues.getComment({ owner, repo, comment_id: comment.id })
    expect(data, name).toMatchObject({ id: comment.id, body: comment.body })
  })
}

type Known = {
  action: string
  number?: number
  before?: string
  after?: string
  review: { id: number; commit_id: string; user: object | null; body: string | null }
  comment: { id: number; path: string; commit_id: string; diff_hunk: string; user: object | null; in_reply_to_id?: number }
  check_run: { id: number; head_sha: string; name: string; app: { id: number }; check_suite: { head_sha: string; app: { id: number } } }
  pull_request: { number: number; head: { sha: string; ref: string; repo: object | null; user: object | null }; user: object | null }
  repository: { full_name: string }
  sender: object | null
}

/** An example of this event and action, changed. */
function example(event: string, action: string, change: (payload: Known) => void = () => {}): Known {
  const found = examples.find(each => each.name === event)?.examples.find(each => each.action === action)
  const payload = structuredClone(found) as unknown as Known
  change(payload)
  return payload
}

async function play<T>(
  recorded: Known,
  look: (octo: Octokit, where: { owner: string; repo: string }, payload: Known, notes: string[]) => Promise<T>,
) {
  return withSimulator(async ({ github }) => {
    const made = await worldFromPayload(github, recorded, { from, role: 'write' })
    if (made.kind !== 'made') throw new Error(`${made.path} ${made.message}`)
    const [owner = '', repo = ''] = recorded.repository.full_name.split('/')
    return look(octokit(github, await mint(github, owner)), { owner, repo }, made.payload as Known, made.notes)
  })
}

describe('what a payload names is in the world, on commits that are there', () => {
  test('a review, with the account gone and nothing said', async () => {
    const recorded = example('pull_request_review', 'submitted', each => {
      each.review.user = null
      each.review.body = null
      each.pull_request.head.repo = null
      each.pull_request.head.user = null
    })
    await play(recorded, async (octo, where, payload, notes) => {
      const pull_number = payload.pull_request.number
      const { data } = await octo.rest.pulls.getReview({ ...where, pull_number, review_id: recorded.review.id })
      expect(data).toMatchObject({ id: recorded.review.id, user: null, body: '', commit_id: payload.review.commit_id })
      const pull = (await octo.rest.pulls.get({ ...where, pull_number })).data
      expect([pull.head.repo, pull.head.sha]).toEqual([null, payload.pull_request.head.sha])
      expect(payload.review.commit_id).not.toBe(recorded.review.commit_id)
      expect(notes).toEqual(expect.arrayContaining([expect.stringMatching(/^ec26c3e57ca3 is [0-9a-f]{12} here$/)]))
    })
  })

  test('a comment on a diff, its review, the comment it answers, and its line in the file', async () => {
    const recorded = example('pull_request_review_comment', 'created', each => {
      each.comment.in_reply_to_id = 4711
      each.comment.diff_hunk = '@@ -1,2 +1,3 @@\n-# Hello\n+# Hello World\n+second\n third'
    })
    await play(recorded, async (octo, where, payload) => {
      const { data } = await octo.rest.pulls.getReviewComment({ ...where, comment_id: recorded.comment.id })
      const { id, path, diff_hunk, commit_id } = payload.comment
      expect(data).toMatchObject({ id, path, diff_hunk, commit_id, in_reply_to_id: 4711 })
      const review_id = Number(data.pull_request_review_id)
      const pull_number = payload.pull_request.number
      expect((await octo.rest.pulls.getReview({ ...where, pull_number, review_id })).data.state).toBe('COMMENTED')
      const file = await octo.rest.repos.getContent({ ...where, path, ref: payload.pull_request.head.sha, mediaType: { format: 'raw' } })
      expect(String(file.data)).toBe('# Hello World\nsecond\nthird\n')
    })
  })

  test('a check run whose button was pressed is one of the App, and lists its pull request', async () => {
    const recorded = example('check_run', 'requested_action')
    await play(recorded, async (octo, where, payload, notes) => {
      const { id, name, head_sha, check_suite } = payload.check_run
      const { data } = await octo.rest.checks.get({ ...where, check_run_id: id })
      expect(data).toMatchObject({ id, name, head_sha, status: 'in_progress', pull_requests: [{ number: 26764 }] })
      expect([data.app?.id, check_suite.app.id, check_suite.head_sha]).toEqual([payload.check_run.app.id, data.app?.id, head_sha])
      expect(data.app?.id).not.toBe(recorded.check_run.app.id)
      expect(notes).toContain('the check run is one of the simulated App')
    })
  })

  test('a check run on a commit of nobody stands on its branch', async () => {
    const recorded = example('check_run', 'rerequested')
    await play(recorded, async (octo, where, payload) => {
      const { data } = await octo.rest.checks.get({ ...where, check_run_id: recorded.check_run.id })
      const { data: branch } = await octo.rest.repos.getBranch({ ...where, branch: 'master' })
      expect([data.head_sha, payload.check_run.head_sha]).toEqual([branch.commit.sha, branch.commit.sha])
    })
  })

  test('a push to a pull request names commits that can be fetched', async () => {
    await play(example('pull_request', 'synchronize'), async (octo, where, payload) => {
      const { data } = await octo.rest.pulls.get({ ...where, pull_number: payload.pull_request.number })
      expect([payload.after, payload.pull_request.head.sha]).toEqual([data.head.sha, data.head.sha])
      expect((await octo.rest.repos.getCommit({ ...where, ref: payload.before ?? '' })).data.sha).toBe(payload.before)
    })
  })

  test('nobody: no author, no sender, no text', async () => {
    const recorded = example('issues', 'opened', each => {
      const issue = (each as unknown as { issue: { user: object | null; body: string | null } }).issue
      Object.assign(issue, { user: null, body: null })
      each.sender = null
    })
    await play(recorded, async (octo, where) => {
      const [issue] = (await octo.rest.issues.listForRepo({ ...where, state: 'all' })).data
      expect(issue).toMatchObject({ user: null, body: null })
    })
  })
})

const pullExample = () => structuredClone(examples.find(each => each.name === 'pull_request')?.examples[0]) as unknown as PullExample
type PullExample = {
  pull_request: { number: number; head: { sha: string; repo: null | object } }
  sender: object
  repository: { full_name: string }
}

test('the sender gets the role that was asked for, and a deleted fork stays deleted', async () => {
  const payload = pullExample()
  payload.pull_request.head.repo = null
  payload.sender = { login: 'someone', id: 99, type: 'User' }
  await withSimulator(async ({ github }) => {
    const made = await worldFromPayload(github, payload, { from, role: 'triage' })
    expect(made).toMatchObject({
      kind: 'made',
      notes: [
        expect.stringContaining('made with a commit of its own'),
        expect.stringMatching(/^[0-9a-f]{12} is [0-9a-f]{12} here$/),
        expect.stringMatching(/^[0-9a-f]{12} is [0-9a-f]{12} here$/),
        expect.stringContaining('no installation'),
      ],
    })
    const [owner = '', repo = ''] = payload.repository.full_name.split('/')
    const octo = octokit(github, await mint(github, owner))
    expect((await octo.rest.pulls.get({ owner, repo, pull_number: payload.pull_request.number })).data.head.repo).toBeNull()
    expect((await octo.rest.repos.getCollaboratorPermissionLevel({ owner, repo, username: 'someone' })).data.role_name).toBe('triage')
  })
})

test('a head commit that the repository has is the head of the pull request', async () => {
  const source = join(fixture.scratch, 'with-head')
  await git(fixture.scratch, ['init', '-q', '-b', 'master', source])
  await git(source, ['commit', '-q', '--allow-empty', '-m', 'first'])
  await git(source, ['checkout', '-q', '-b', 'work'])
  await git(source, ['commit', '-q', '--allow-empty', '-m', 'second'])
  const payload = pullExample()
  payload.pull_request.head.sha = (await git(source, ['rev-parse', 'work'])).stdout.trim()
  await git(source, ['checkout', '-q', 'master'])
  await withSimulator(async ({ github }) => {
    await worldFromPayload(github, payload, { from: source, role: 'write' })
    const [owner = '', repo = ''] = payload.repository.full_name.split('/')
    const octo = octokit(github, await mint(github, owner))
    const { data } = await octo.rest.pulls.get({ owner, repo, pull_number: payload.pull_request.number })
    expect(data.head.sha).toBe(payload.pull_request.head.sha)
  })
})

test.each([
  ['no object', 7, ''],
  ['a repository without an id', { repository: { name: 'x', owner: { id: 1, login: 'o' } } }, 'repository.id'],
])('%s is no webhook, and where it fails is said', async (_, recorded, path) => {
  expect(await worldFromPayload(fixture.github, recorded, { from, role: 'write' })).toMatchObject({ kind: 'unusable', path })
})

test.each([
  ['a repository', { name: '../../../../elsewhere' }, 'repository.name'],
  ['an account', { owner: { id: 1, login: '../octo' } }, 'repository.owner.login'],
  ['a branch', { default_branch: '..main' }, 'repository.default_branch'],
  ['no branch', { default_branch: '' }, 'repository.default_branch'],
])('what is no name of %s is refused before anything is made of it', async (_, change, path) => {
  const repository = { id: 2, name: 'parser', owner: { id: 1, login: 'octo' }, ...change }
  await withSimulator(async ({ github }) => {
    expect(await worldFromPayload(github, { repository }, { from, role: 'write' })).toMatchObject({ kind: 'unusable', path })
  })
})
