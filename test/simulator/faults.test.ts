import type { Octokit } from '@octokit/rest'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Fault, startSimulator } from '../../simulator/index.ts'
import { judge, mint, octokit, outcome, useSimulator } from './fixture.ts'

const fixture = useSimulator()
const hello = { owner: 'octo', repo: 'hello' }
const commenting = 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments'
let octo: Octokit
let issue_number: number

beforeAll(async () => {
  octo = octokit(fixture.github, await mint(fixture.github, 'octo'))
  issue_number = fixture.github.openIssue({ repo: 'octo/hello', author: 'maria', title: 'T' }).number
})

function bodies(): string[] {
  const repository = fixture.github.state.repositories.get('octo/hello')
  return [...(repository?.comments.values() ?? [])].map(each => each.versions.at(-1)?.body ?? '')
}

async function say(body: string): Promise<{ status?: number; headers?: Record<string, unknown>; type?: string }> {
  const response = await fetch(`${fixture.github.url}/repos/octo/hello/issues/${issue_number}/comments`, {
    method: 'POST',
    body: JSON.stringify({ body }),
    headers: { authorization: `Bearer ${await mint(fixture.github, 'octo')}`, 'user-agent': 't', 'content-type': 'application/json' },
  })
  await response.text()
  return { status: response.status, headers: Object.fromEntries(response.headers), type: response.headers.get('content-type') ?? '' }
}

test.each<[string, Fault, object, boolean]>([
  ['500', { kind: 'status', status: 500 }, { status: 500 }, false],
  ['401', { kind: 'status', status: 401 }, { status: 401 }, false],
  ['404', { kind: 'status', status: 404 }, { status: 404 }, false],
  ['422', { kind: 'status', status: 422, body: { message: 'Validation Failed', errors: [] } }, { status: 422 }, false],
  ['a gateway page', { kind: 'html' }, { status: 502, type: 'text/html' }, false],
  ['a gateway time-out after the write', { kind: 'html', status: 504, done: true }, { status: 504, type: 'text/html' }, true],
  [
    'the secondary limit with Retry-After',
    { kind: 'secondary-limit', retryAfterSeconds: 7 },
    { status: 403, headers: { 'retry-after': '7' } },
    false,
  ],
  ['the secondary limit as 429', { kind: 'secondary-limit', status: 429 }, { status: 429, headers: { 'retry-after': '60' } }, false],
  ['the primary limit', { kind: 'primary-limit' }, { status: 403, headers: { 'x-ratelimit-remaining': '0' } }, false],
  ['a delay', { kind: 'delay', ms: 30 }, { status: 201 }, true],
  ['a trickle', { kind: 'trickle', everyMs: 1 }, { status: 201 }, true],
])('%s', async (title, fault, expected, done) => {
  const handle = fixture.github.fail({ route: commenting, fault })
  expect(await say(title)).toMatchObject(expected)
  expect(bodies().includes(title)).toBe(done)
  expect(handle.hits()).toBe(1)
  expect((await say(`${title}, again`)).status).toBe(201)
  expect(fixture.github.requests(commenting).at(-2)?.fault).toBe(fault.kind)
})

test('the secondary limit without Retry-After has no such header', async () => {
  fixture.github.fail({ route: commenting, fault: { kind: 'secondary-limit', retryAfterSeconds: null } })
  expect((await say('x')).headers).not.toHaveProperty('retry-after')
})

test.each<[string, Fault, boolean]>([
  ['cut before', { kind: 'cut', when: 'before' }, false],
  ['cut after', { kind: 'cut', when: 'after' }, true],
  ['half an answer', { kind: 'half-answer' }, true],
])('%s: the caller sees a broken connection', async (title, fault, done) => {
  fixture.github.fail({ route: commenting, fault })
  await expect(say(title)).rejects.toThrow()
  expect(bodies().includes(title)).toBe(done)
})

test.each([
  ['before', false],
  ['after', true],
] as const)('a black hole %s answers nothing', async (when, done) => {
  fixture.github.fail({ route: commenting, fault: { kind: 'black-hole', when } })
  const signal = AbortSignal.timeout(1500)
  const body = `hole ${when}`
  await expect(octo.rest.issues.createComment({ ...hello, issue_number, body, request: { signal } })).rejects.toThrow()
  expect(bodies().includes(body)).toBe(done)
})

describe('which requests a fault meets', () => {
  test('after some that pass, as often as said, and by who asks', async () => {
    fixture.github.fail({
      method: 'GET',
      path: /\/issues$/,
      auth: 'installation',
      skip: 1,
      times: 2,
      fault: { kind: 'status', status: 503 },
    })
    const list = () => outcome(octo.rest.issues.listForRepo(hello)).then(each => each.status)
    expect([await list(), await list(), await list(), await list()]).toEqual([200, 503, 503, 200])
  })

  test('a cleared one meets nothing more', async () => {
    const handle = fixture.github.fail({ route: commenting, fault: { kind: 'status', status: 500 }, times: 100 })
    expect((await say('x')).status).toBe(500)
    handle.clear()
    expect((await say('y')).status).toBe(201)
  })
})

test('with read lag a list does not show what was just written, nor the newest edit; a single read does', async () => {
  let ahead = 0
  const { github, close } = await startSimulator({ github: { now: () => Date.now() + ahead } })
  const findings = judge(github)
  await github.addRepository({ owner: 'octo', name: 'hello' })
  github.addUser({ login: 'maria' })
  const { number } = github.openIssue({ repo: 'octo/hello', author: 'maria', title: 'T' })
  const lagging = octokit(github, await mint(github, 'octo'))
  const { data: old } = await lagging.rest.issues.createComment({ ...hello, issue_number: number, body: 'old' })
  github.setReadLag(60_000)
  ahead += 61_000
  await lagging.rest.issues.updateComment({ ...hello, comment_id: old.id, body: 'edited' })
  const { data: young } = await lagging.rest.issues.createComment({ ...hello, issue_number: number, body: 'young' })
  const listed = async () => (await lagging.rest.issues.listComments({ ...hello, issue_number: number })).data.map(each => each.body)
  expect(await listed()).toEqual(['old'])
  expect((await lagging.rest.issues.getComment({ ...hello, comment_id: young.id })).data.body).toBe('young')
  expect((await lagging.rest.issues.getComment({ ...hello, comment_id: old.id })).data.body).toBe('edited')
  ahead += 61_000
  expect(await listed()).toEqual(['edited', 'young'])
  expect(findings).toEqual([])
  await close()
})

test('a lost edit is confirmed and not kept', async () => {
  const { data } = await octo.rest.issues.createComment({ ...hello, issue_number, body: 'first' })
  fixture.github.fail({ method: 'PATCH', fault: { kind: 'lost' } })
  expect((await octo.rest.issues.updateComment({ ...hello, comment_id: data.id, body: 'second' })).data.body).toBe('second')
  expect((await octo.rest.issues.getComment({ ...hello, comment_id: data.id })).data.body).toBe('first')
})
