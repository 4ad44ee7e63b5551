import { join } from 'node:path'
import webhookExamples from '@octokit/webhooks-examples'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Simulator, startSimulator, worldFromPayload } from '../../simulator/index.ts'
import { git, mint, octokit, outcome, useSimulator } from './fixture.ts'

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
    return await work(simulator)
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
    const comment = payload.comment as { id: number; body: string; pull_request_review_id?: number } | undefined
    if (!comment || comment.pull_request_review_id !== undefined) return
    const { data } = await octo.rest.issues.getComment({ owner, repo, comment_id: comment.id })
    expect(data, name).toMatchObject({ id: comment.id, body: comment.body })
  })
}

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
      notes: [expect.stringContaining('made with a commit of its own'), expect.stringContaining('no installation')],
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
