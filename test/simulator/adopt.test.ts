import { join } from 'node:path'
import webhookExamples from '@octokit/webhooks-examples'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Simulator, startSimulator } from '../../simulator/index.ts'
import { git, mint, octokit, outcome, useSimulator } from './fixture.ts'

const fixture = useSimulator()
type Example = { action?: string; repository: { full_name: string; id: number; default_branch: string }; [key: string]: unknown }
const examples = webhookExamples as unknown as { name: string; examples: Example[] }[]
const events = ['issue_comment', 'issues', 'pull_request', 'pull_request_review', 'pull_request_review_comment', 'push', 'check_run']
/** Of each kind of event so many; the others differ in what is not adopted. */
const examplesEach = 4
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

test('there are examples to adopt', () => {
  expect(cases.length).toBeGreaterThan(20)
})

describe('a recorded example of GitHub is adopted: the fake then answers with its ids and texts', () => {
  test.each(events)(
    '%s',
    async event => {
      for (const [name, payload] of cases.filter(([each]) => each.startsWith(`${event}.`))) await adoptOne(name, payload)
    },
    120_000,
  )
})

async function adoptOne(name: string, payload: Example): Promise<void> {
  await withSimulator(async ({ github }) => {
    const { repository, issue, comment } = await github.adopt(payload, { from, permission: 'write' })
    expect(repository, name).toMatchObject({ id: payload.repository.id, defaultBranch: payload.repository.default_branch })
    const [owner = '', repo = ''] = payload.repository.full_name.split('/')
    expect(Object.keys(await github.refs(payload.repository.full_name)), name).toContain(`refs/heads/${payload.repository.default_branch}`)
    if (!issue) return
    const octo = octokit(github, await mint(github, owner))
    const thread = (payload.pull_request ?? payload.issue) as {
      number: number
      title: string
      body: string | null
      id: number
      user: { login: string } | null
    }
    const read = payload.pull_request
      ? octo.rest.pulls.get({ owner, repo, pull_number: thread.number })
      : octo.rest.issues.get({ owner, repo, issue_number: thread.number })
    expect(await outcome(read), name).toMatchObject({
      data: { id: thread.id, title: thread.title, body: thread.body ?? null, user: thread.user && { login: thread.user.login } },
    })
    if (!comment) return
    const { data } = await octo.rest.issues.getComment({ owner, repo, comment_id: comment.id })
    expect(data, name).toMatchObject({ id: (payload.comment as { id: number }).id, body: (payload.comment as { body: string }).body })
  })
}

test('the sender gets the permission that was asked for, and a deleted fork stays deleted', async () => {
  const payload = structuredClone(examples.find(each => each.name === 'pull_request')?.examples[0]) as unknown as {
    pull_request: { number: number; head: { repo: null } }
    sender: { login: string }
  }
  payload.pull_request.head.repo = null
  payload.sender = { ...payload.sender, login: 'someone', id: 99 } as never
  await withSimulator(async ({ github }) => {
    const { repository, issue } = await github.adopt(payload, { from, permission: 'triage' })
    const [owner, repo] = [repository.owner.login, repository.name]
    const octo = octokit(github, await mint(github, owner))
    const { data } = await octo.rest.pulls.get({ owner, repo, pull_number: issue?.number ?? 0 })
    expect(data.head.repo).toBeNull()
    const level = await octo.rest.repos.getCollaboratorPermissionLevel({ owner, repo, username: 'someone' })
    expect(level.data.role_name).toBe('triage')
  })
})

test('a body that is no webhook about a repository is refused', async () => {
  await expect(fixture.github.adopt({ zen: 'x' })).rejects.toThrow('repository')
})
