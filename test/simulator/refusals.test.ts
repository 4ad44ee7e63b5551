import type { Octokit } from '@octokit/rest'
import { beforeAll, describe, expect, test } from 'vitest'
import { mint, octokit, outcome, useSimulator } from './fixture.ts'

const fixture = useSimulator()
const hello = { owner: 'octo', repo: 'hello' }
const repo = 'octo/hello'
let octo: Octokit
let pull_number: number
let head: string

beforeAll(async () => {
  const { github } = fixture
  octo = octokit(github, await mint(github, 'octo'))
  head = await github.commit({
    repo,
    branch: 'topic',
    files: { 'a.ts': 'a\n' },
    from: (await github.refs(repo))['refs/heads/trunk'] ?? '',
  })
  pull_number = (await github.openPull({ repo, author: 'maria', title: 'Pull', head: 'topic' })).number
})

const openIssue = () => fixture.github.openIssue({ repo, author: 'maria', title: 'It is broken' }).number
const writer = () => octokit(fixture.github, fixture.github.userToken('maria'))

describe('a locked conversation', () => {
  beforeAll(() => fixture.github.lock(repo, pull_number))

  const at = (each: Octokit) => ({
    comment: () => each.rest.issues.createComment({ ...hello, issue_number: pull_number, body: 'b' }),
    reaction: () => each.rest.reactions.createForIssue({ ...hello, issue_number: pull_number, content: 'eyes' }),
    review: () => each.rest.pulls.createReview({ ...hello, pull_number, event: 'COMMENT', body: 'b' }),
    inline: () => each.rest.pulls.createReviewComment({ ...hello, pull_number, commit_id: head, path: 'a.ts', line: 1, body: 'b' }),
  })

  test('takes no word of the App, each in its own words', async () => {
    const asApp = at(octo)
    const refusal = (what: string) => ({ status: 403, data: { message: `Unable to ${what} because issue is locked.` } })
    expect(await outcome(asApp.comment())).toMatchObject(refusal('create comment'))
    expect(await outcome(asApp.reaction())).toMatchObject(refusal('create reaction'))
    // Where a review is meant it is no 403.
    expect(await outcome(asApp.review())).toMatchObject({ status: 422, data: { errors: ['lock prevents review'] } })
    expect(await outcome(asApp.inline())).toMatchObject({ status: 422, data: { errors: [{ message: 'lock prevents review' }] } })
    const { id } = fixture.github.comment({ repo, number: pull_number, author: 'grokbot[bot]', body: 'Working' })
    expect(await outcome(octo.rest.issues.updateComment({ ...hello, comment_id: id, body: 'Done' }))).toMatchObject(
      refusal('update comment'),
    )
    expect((await octo.rest.issues.get({ ...hello, issue_number: pull_number })).data.locked).toBe(true)
  })

  test('is open to who may write', async () => {
    for (const speak of Object.values(at(writer()))) expect((await outcome(speak())).status).toBeLessThan(300)
  })
})

test('a repository without issues answers 410 for them, and its pull requests go on', async () => {
  const { github } = fixture
  await github.addRepository({ owner: 'octo', name: 'quiet' })
  const quiet = { owner: 'octo', repo: 'quiet' }
  const issue_number = github.openIssue({ repo: 'octo/quiet', author: 'maria', title: 'Before' }).number
  await github.commit({
    repo: 'octo/quiet',
    branch: 'topic',
    files: { a: 'a' },
    from: (await github.refs('octo/quiet'))['refs/heads/main'] ?? '',
  })
  const pull = await github.openPull({ repo: 'octo/quiet', author: 'maria', title: 'Pull', head: 'topic' })
  github.disableIssues('octo/quiet')
  const gone = { status: 410, data: { message: 'Issues are disabled for this repo' } }
  expect(await outcome(octo.rest.issues.get({ ...quiet, issue_number }))).toMatchObject(gone)
  expect(await outcome(octo.rest.issues.createComment({ ...quiet, issue_number, body: 'b' }))).toMatchObject(gone)
  expect((await outcome(octo.rest.issues.create({ ...quiet, title: 't' }))).status).toBe(410)
  expect((await outcome(octo.rest.issues.createComment({ ...quiet, issue_number: pull.number, body: 'b' }))).status).toBe(201)
})

test('an archived repository is read and not written, whatever it is that is written', async () => {
  const { github } = fixture
  await github.addRepository({ owner: 'octo', name: 'old' })
  const old = { owner: 'octo', repo: 'old' }
  const issue_number = github.openIssue({ repo: 'octo/old', author: 'maria', title: 'Before' }).number
  const main = (await github.refs('octo/old'))['refs/heads/main'] ?? ''
  github.archive('octo/old')
  const writes = [
    octo.rest.issues.createComment({ ...old, issue_number, body: 'b' }),
    octo.rest.reactions.createForIssue({ ...old, issue_number, content: 'eyes' }),
    octo.rest.checks.create({ ...old, name: 'grok', head_sha: main }),
    octo.rest.git.createRef({ ...old, ref: 'refs/heads/new', sha: main }),
  ]
  for (const write of writes) {
    expect(await outcome(write)).toMatchObject({ status: 403, data: { message: 'Repository was archived so is read-only.' } })
  }
  expect((await octo.rest.repos.get(old)).data.archived).toBe(true)
})

test('whom the owner has blocked writes nothing, and reads what is public', async () => {
  const { github } = fixture
  github.addUser({ login: 'troll' })
  const troll = octokit(github, github.userToken('troll'))
  const say = () => outcome(troll.rest.issues.createComment({ ...hello, issue_number: openIssue(), body: 'b' }))
  expect((await say()).status).toBe(201)
  github.block('octo', 'troll')
  expect(await say()).toMatchObject({ status: 403, data: { message: 'User is blocked' } })
  expect((await outcome(troll.rest.repos.get(hello))).status).toBe(200)
})

describe('a repository that is somewhere else now', () => {
  const raw = async (name: string, method: string) => {
    const headers = { 'user-agent': 't', authorization: `Bearer ${await mint(fixture.github, 'octo')}` }
    const response = await fetch(`${fixture.github.url}/repos/${name}/issues/1/comments`, { method, redirect: 'manual', headers })
    return [response.status, response.headers.get('location')]
  }

  test('by a new name redirects reads for good, and writes with their body', async () => {
    const { github } = fixture
    const { id } = await github.addRepository({ owner: 'octo', name: 'before' })
    github.openIssue({ repo: 'octo/before', author: 'maria', title: 'T' })
    github.renameRepository('octo/before', 'after')
    const location = `${github.url}/repositories/${id}/issues/1/comments`
    expect(await raw('octo/before', 'GET')).toEqual([301, location])
    expect(await raw('octo/before', 'POST')).toEqual([307, location])
    const made = await outcome(octo.rest.issues.createComment({ owner: 'octo', repo: 'before', issue_number: 1, body: 'Still there' }))
    expect(made).toMatchObject({ status: 201, data: { body: 'Still there' } })
  })

  test('by another owner the App is not installed at is not found, and neither is one that was deleted', async () => {
    const { github } = fixture
    const { id } = await github.addRepository({ owner: 'octo', name: 'leaving', private: true })
    github.transferRepository('octo/leaving', 'stranger')
    expect(await raw('octo/leaving', 'GET')).toEqual([301, `${github.url}/repositories/${id}/issues/1/comments`])
    expect((await outcome(octo.rest.repos.get({ owner: 'octo', repo: 'leaving' }))).status).toBe(404)
    await github.addRepository({ owner: 'octo', name: 'gone' })
    await github.removeRepository('octo/gone')
    expect((await outcome(octo.rest.repos.get({ owner: 'octo', repo: 'gone' }))).status).toBe(404)
  })
})

test('a suspended installation is 403, and one that was taken away is 401 with its old token', async () => {
  const { github } = fixture
  await github.addRepository({ owner: 'leaver', name: 'tool' })
  const tool = { owner: 'leaver', repo: 'tool' }
  const old = octokit(github, await mint(github, 'leaver'))
  github.setInstallation('leaver', { suspended: true })
  const suspended = { status: 403, data: { message: 'This installation has been suspended' } }
  expect(await outcome(old.rest.repos.get(tool))).toMatchObject(suspended)
  const minting = () =>
    mint(github, 'leaver').then(
      () => 201,
      error => error.status,
    )
  expect(await minting()).toBe(403)
  github.setInstallation('leaver', { suspended: false })
  expect((await outcome(old.rest.repos.get(tool))).status).toBe(200)
  const { id } = github.installation('leaver')
  github.uninstall('leaver')
  expect(await outcome(old.rest.repos.get(tool))).toMatchObject({ status: 401, data: { message: 'Bad credentials' } })
  const again = github.install('leaver')
  expect(again.id).not.toBe(id)
  expect(await minting()).toBe(201)
})
