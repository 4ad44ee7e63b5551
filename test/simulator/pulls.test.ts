import { join } from 'node:path'
import type { Octokit } from '@octokit/rest'
import { beforeAll, describe, expect, test } from 'vitest'
import type { FileChanges } from '../../simulator/github/seed-repository.ts'
import { git, mint, octokit, outcome, useSimulator } from './fixture.ts'

const fixture = useSimulator()
const hello = { owner: 'octo', repo: 'hello' }
const lines = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => `line ${from + at}\n`).join('')
let octo: Octokit
let count = 0

beforeAll(async () => {
  const { github } = fixture
  octo = octokit(github, await mint(github, 'octo'))
  await github.commit({
    repo: 'octo/hello',
    branch: 'trunk',
    files: {
      'src/app.ts': lines(1, 40),
      'old name.txt': lines(1, 9),
      'moved.txt': lines(101, 109),
      'tool.sh': 'echo\n',
      'logo.png': Buffer.from([0, 1, 2, 255]),
      'gone.txt': 'gone\n',
      link: 'a file\n',
    },
  })
})

async function trunk(): Promise<string> {
  return (await fixture.github.refs('octo/hello'))['refs/heads/trunk'] ?? ''
}

async function openPull(files: FileChanges, wish: { author?: string; body?: string } = {}): Promise<number> {
  const { github } = fixture
  const branch = `topic-${++count}`
  await github.commit({ repo: 'octo/hello', branch, files, from: await trunk() })
  const { author = 'maria', ...rest } = wish
  return (await github.openPull({ repo: 'octo/hello', author, title: `Pull ${count}`, head: branch, ...rest })).number
}

function patchPull(pull_number: number, change: object, as: Octokit = octo) {
  return outcome(as.request('PATCH /repos/octo/hello/pulls/{pull_number}', { pull_number, ...change }))
}

function asText(pull_number: number, format: 'diff' | 'patch') {
  return outcome(octo.rest.pulls.get({ ...hello, pull_number, mediaType: { format } }))
}

describe('the files of a pull request', () => {
  test('have a patch only where there is one: not if they are binary, only moved, or only made executable', async () => {
    const pull_number = await openPull({
      'src/app.ts': lines(1, 39),
      'old name.txt': null,
      'new name.txt': lines(1, 9),
      'moved.txt': null,
      'moved too.txt': `${lines(101, 109)}more\n`,
      'tool.sh': { content: 'echo\n', mode: '100755' },
      'logo.png': Buffer.from([0, 9, 9, 254]),
      'gone.txt': null,
      link: { content: 'src/app.ts', mode: '120000' },
      'new.txt': 'one\n-- two\n',
    })
    const { data } = await octo.rest.pulls.listFiles({ ...hello, pull_number })
    const seen = data.map(({ filename, status, additions, deletions, patch, previous_filename: from }) => {
      return [filename, status, additions, deletions, ...(from === undefined ? [] : [from]), patch]
    })
    expect(seen).toEqual([
      ['gone.txt', 'removed', 0, 1, '@@ -1 +0,0 @@\n-gone'],
      ['link', 'changed', 1, 1, '@@ -1 +0,0 @@\n-a file\n@@ -0,0 +1 @@\n+src/app.ts\n\\ No newline at end of file'],
      ['logo.png', 'modified', 0, 0, undefined],
      ['moved too.txt', 'renamed', 1, 0, 'moved.txt', '@@ -7,3 +7,4 @@ line 106\n line 107\n line 108\n line 109\n+more'],
      ['new name.txt', 'renamed', 0, 0, 'old name.txt', undefined],
      ['new.txt', 'added', 2, 0, '@@ -0,0 +1,2 @@\n+one\n+-- two'],
      ['src/app.ts', 'modified', 0, 1, '@@ -37,4 +37,3 @@ line 36\n line 37\n line 38\n line 39\n-line 40'],
      ['tool.sh', 'modified', 0, 0, undefined],
    ])
    expect((await octo.rest.pulls.get({ ...hello, pull_number })).data).toMatchObject({ changed_files: 8, additions: 4, deletions: 3 })
  })

  test('come in pages to the 3000th, and no diff is made of more than 300', async () => {
    const many = Object.fromEntries(Array.from({ length: 3001 }, (_, at) => [`many/${at}.txt`, `${at}\n`]))
    const pull_number = await openPull(many)
    const pages = await Promise.all(
      [30, 31].map(page => octo.rest.pulls.listFiles({ ...hello, pull_number, per_page: 100, page }).then(each => each.data.length)),
    )
    expect(pages).toEqual([100, 0])
    expect((await octo.rest.pulls.get({ ...hello, pull_number })).data.changed_files).toBe(3001)
    const message =
      "Sorry, the diff exceeded the maximum number of files (300). Consider using 'List pull requests files' API or locally cloning the repository instead."
    for (const format of ['diff', 'patch'] as const) {
      const { status, data } = await asText(pull_number, format)
      expect([status, data]).toMatchObject([
        406,
        { message, errors: [{ resource: 'PullRequest', field: 'diff', code: 'too_large' }], status: '406' },
      ])
    }
  })

  test('of 20,000 lines and more have neither a patch nor a diff', async () => {
    const pull_number = await openPull({ 'long.txt': lines(1, 20_001) })
    const { data } = await octo.rest.pulls.listFiles({ ...hello, pull_number })
    expect(data).toMatchObject([{ filename: 'long.txt', additions: 20_001, changes: 20_001 }])
    expect(data[0]).not.toHaveProperty('patch')
    const { status, data: text } = await asText(pull_number, 'diff')
    expect([status, text]).toMatchObject([406, { message: 'Sorry, the diff exceeded the maximum number of lines (20000)' }])
  })
})

test('its commits are listed oldest first, in pages and no more than 250', async () => {
  const { github, scratch } = fixture
  const pull_number = await openPull({ 'a.txt': '0\n' })
  const clone = join(scratch, 'commits')
  await git(scratch, ['clone', '-q', '--bare', github.gitUrl('octo', 'hello'), clone])
  const commits = Array.from({ length: 252 }, (_, at) => {
    const text = `Change ${at + 1}\n\nWhy.`
    return `commit refs/heads/topic-${count}\ncommitter m <m@example.org> ${at} +0000\ndata ${text.length}\n${text}\n${
      at === 0 ? `from refs/heads/topic-${count}^0\n` : ''
    }`
  })
  await git(clone, ['fast-import', '--quiet'], undefined, {}, commits.join(''))
  await git(clone, ['push', '-q', 'origin', `topic-${count}`], github.userToken('maria'))
  const { data } = await octo.rest.pulls.listCommits({ ...hello, pull_number, per_page: 100 })
  expect([data.length, data[0]?.commit.message, data[1]?.commit.message]).toEqual([100, 'A change', 'Change 1\n\nWhy.'])
  expect(data[1]).toMatchObject({
    parents: [{ sha: data[0]?.sha }],
    commit: {
      author: { name: 'm', email: 'm@example.org', date: '1970-01-01T00:00:00Z' },
      verification: { verified: false, reason: 'unsigned', signature: null, payload: null },
    },
  })
  expect(await octo.paginate(octo.rest.pulls.listCommits, { ...hello, pull_number, per_page: 100 })).toHaveLength(250)
  expect((await octo.rest.pulls.get({ ...hello, pull_number })).data.commits).toBe(253)
})

describe('a pull request of a fork', () => {
  test('can be fetched from the base repository by its number, also after a push and after the fork is gone', async () => {
    const { github, scratch } = fixture
    await github.addRepository({ owner: 'fran', name: 'hello', forkOf: 'octo/hello' })
    await github.commit({ repo: 'fran/hello', branch: 'trunk', files: { 'f.txt': 'one\n' } })
    const { number } = await github.openPull({
      repo: 'octo/hello',
      author: 'fran',
      title: 'From a fork',
      head: 'fran:trunk',
      maintainerCanModify: true,
    })
    const clone = join(scratch, 'fork')
    const cloned = await git(scratch, ['clone', '-q', github.gitUrl('fran', 'hello'), clone])
    expect(cloned, cloned.stderr).toMatchObject({ exitCode: 0 })
    await git(clone, ['commit', '-q', '--allow-empty', '-m', 'two'])
    const pushed = await git(clone, ['push', '-q', 'origin', 'HEAD:trunk'], github.userToken('fran'))
    expect(pushed, pushed.stderr).toMatchObject({ exitCode: 0 })
    const sha = (await git(clone, ['rev-parse', 'HEAD'])).stdout.trim()
    const { data } = await octo.rest.pulls.get({ ...hello, pull_number: number })
    expect(data).toMatchObject({ commits: 2, maintainer_can_modify: true, head: { sha, repo: { full_name: 'fran/hello' } } })
    await github.removeRepository('fran/hello')
    await git(scratch, ['init', '-q', '--bare', 'base.git'])
    const fetched = await git(join(scratch, 'base.git'), ['fetch', '-q', github.gitUrl('octo', 'hello'), `refs/pull/${number}/head:refs/x`])
    expect(fetched, fetched.stderr).toMatchObject({ exitCode: 0 })
    expect((await git(join(scratch, 'base.git'), ['rev-parse', 'refs/x'])).stdout.trim()).toBe(sha)
    const gone = await octo.rest.pulls.get({ ...hello, pull_number: number })
    expect(gone.data).toMatchObject({ head: { sha, repo: null, user: { login: 'fran' } }, changed_files: 1 })
    await github.setIssueState({ repo: 'octo/hello', number, state: 'closed' })
    expect(await patchPull(number, { state: 'open' })).toMatchObject({
      status: 422,
      data: { errors: [{ field: 'state', message: expect.stringContaining('has been deleted') }] },
    })
  })
})

describe('changing a pull request', () => {
  test('title, body and base are changed; what it closes follows its body', async () => {
    const { github } = fixture
    const issue = github.openIssue({ repo: 'octo/hello', author: 'maria', title: 'Broken' }).number
    await github.commit({ repo: 'octo/hello', branch: 'release', files: { 'r.txt': 'r\n' }, from: await trunk() })
    const number = await openPull({ 'x.txt': 'x\n' })
    const change = { title: 'Better', body: `fixes #${issue}`, base: 'release', maintainer_can_modify: true }
    expect(await patchPull(number, change)).toMatchObject({
      status: 200,
      data: { title: 'Better', body: `fixes #${issue}`, base: { ref: 'release' }, maintainer_can_modify: true, mergeable: true },
    })
    expect(github.state.repositories.get('octo/hello')?.issues.get(number)?.pull?.closes).toEqual([issue])
  })

  test('one that is closed stays as it is once its branch was pushed to, and one that is merged for good', async () => {
    const { github } = fixture
    const number = await openPull({ 'once.txt': 'x\n' })
    const error = async (change: object) => {
      const { status, data } = await patchPull(number, change)
      return [status, (data as { errors: object[] }).errors]
    }
    const resource = 'PullRequest'
    await github.commit({
      repo: 'octo/hello',
      branch: 'ahead',
      files: { y: 'y\n' },
      from: (await github.refs('octo/hello'))[`refs/pull/${number}/head`] ?? '',
    })
    expect(await error({ base: 'ahead' })).toEqual([
      422,
      [
        {
          resource,
          field: 'base',
          code: 'invalid',
          message: `There are no new commits between base branch 'ahead' and head branch 'topic-${count}'`,
        },
      ],
    ])
    github.setIssueState({ repo: 'octo/hello', number, state: 'closed' })
    expect(await error({ base: 'ahead' })).toEqual([
      422,
      [{ resource, field: 'base', code: 'invalid', message: 'Cannot change the base branch of a closed pull request.' }],
    ])
    expect((await patchPull(number, { state: 'open' })).status).toBe(200)
    github.setIssueState({ repo: 'octo/hello', number, state: 'closed' })
    await github.commit({ repo: 'octo/hello', branch: `topic-${count}`, files: { z: 'z\n' } })
    const message = `state cannot be changed. The topic-${count} branch was force-pushed or recreated.`
    expect(await error({ state: 'open' })).toEqual([422, [{ resource, code: 'custom', field: 'state', message }]])
    const merged = await openPull({ 'merged.txt': 'x\n' })
    await github.mergePull({ repo: 'octo/hello', number: merged })
    expect(await patchPull(merged, { state: 'open' })).toMatchObject({
      status: 422,
      data: { errors: [{ field: 'state', code: 'custom' }] },
    })
  })

  test('to what can not be is 422, and for a stranger it is 403', async () => {
    const { github } = fixture
    github.addUser({ login: 'walter' })
    const number = await openPull({ 'w.txt': 'w\n' })
    const errors = async (change: object) => ((await patchPull(number, change)).data as { errors: object[] }).errors
    const resource = 'PullRequest'
    expect(await errors({ base: 'nowhere' })).toEqual([{ resource, field: 'base', code: 'invalid' }])
    expect(await errors({ title: ' ' })).toEqual([{ resource, field: 'title', code: 'missing_field' }])
    expect(await errors({ body: 'x'.repeat(65_537) })).toEqual([
      { resource, field: 'body', code: 'custom', message: 'body is too long (maximum is 65536 characters)' },
    ])
    expect((await patchPull(number, { title: 'Mine' }, octokit(github, github.userToken('walter')))).status).toBe(403)
  })

  test('it can not be merged once its base branch says something else', async () => {
    const number = await openPull({ 'src/app.ts': `theirs\n${lines(2, 40)}` })
    const mergeable = async () => (await octo.rest.pulls.get({ ...hello, pull_number: number })).data
    expect(await mergeable()).toMatchObject({ mergeable: true, mergeable_state: 'clean' })
    await fixture.github.commit({ repo: 'octo/hello', branch: 'trunk', files: { 'src/app.ts': `ours\n${lines(2, 40)}` } })
    expect(await mergeable()).toMatchObject({ mergeable: false, mergeable_state: 'dirty' })
  })
})
