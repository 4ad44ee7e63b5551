import type { Octokit } from '@octokit/rest'
import { beforeAll, describe, expect, test } from 'vitest'
import { mint, octokit, outcome, useSimulator } from './fixture.ts'

const fixture = useSimulator()
const hello = { owner: 'octo', repo: 'hello' }
let octo: Octokit

beforeAll(async () => {
  octo = octokit(fixture.github, await mint(fixture.github, 'octo'))
})

function openIssue(title = 'It is broken'): number {
  return fixture.github.openIssue({ repo: 'octo/hello', author: 'maria', title }).number
}

async function branch(name: string, files: Record<string, string> = { [`${name}.txt`]: 'new\n' }): Promise<string> {
  const from = (await fixture.github.refs('octo/hello'))['refs/heads/trunk']
  return fixture.github.commit({ repo: 'octo/hello', branch: name, files, ...(from ? { from } : {}) })
}

describe('people and permissions', () => {
  test.each([
    ['admin', 'admin', 'admin', { admin: true, maintain: true, push: true, triage: true, pull: true }],
    ['maintain', 'write', 'maintain', { admin: false, maintain: true, push: true, triage: true, pull: true }],
    ['write', 'write', 'write', { admin: false, maintain: false, push: true, triage: true, pull: true }],
    ['triage', 'read', 'triage', { admin: false, maintain: false, push: false, triage: true, pull: true }],
    ['read', 'read', 'read', { admin: false, maintain: false, push: false, triage: false, pull: true }],
  ] as const)('%s shows as the legacy word, the role and the booleans', async (role, permission, role_name, permissions) => {
    fixture.github.setPermission('octo/hello', 'ann', role)
    const { data } = await octo.rest.repos.getCollaboratorPermissionLevel({ ...hello, username: 'ann' })
    expect(data).toMatchObject({ permission, role_name, user: { login: 'ann', role_name, permissions } })
  })

  test('a custom role keeps its name and the rights of its base', async () => {
    fixture.github.setPermission('octo/hello', 'carl', 'write', 'release-captain')
    const { data } = await octo.rest.repos.getCollaboratorPermissionLevel({ ...hello, username: 'carl' })
    expect(data).toMatchObject({ permission: 'write', role_name: 'release-captain', user: { permissions: { push: true } } })
  })

  test('who is no user gets 404, an App bot gets none, a stranger reads what is public', async () => {
    const { github } = fixture
    github.addUser({ login: 'Copilot', type: 'Bot' })
    github.addUser({ login: 'other[bot]', type: 'Bot' })
    github.addUser({ login: 'stranger' })
    const level = (username: string) => outcome(octo.rest.repos.getCollaboratorPermissionLevel({ ...hello, username }))
    expect(await level('Copilot')).toMatchObject({ status: 404, data: { message: 'Copilot is not a user' } })
    expect(await level('nobody')).toMatchObject({ status: 404 })
    expect(await level('other[bot]')).toMatchObject({ status: 200, data: { permission: 'none' } })
    expect(await level('stranger')).toMatchObject({ status: 200, data: { permission: 'read' } })
  })
})

describe('comments and reactions', () => {
  test('a comment is made, edited, listed and deleted; its author is the bot', async () => {
    const issue_number = openIssue()
    const { data: made } = await octo.rest.issues.createComment({ ...hello, issue_number, body: 'Working.' })
    expect(made).toMatchObject({
      body: 'Working.',
      user: { login: 'grokbot[bot]', type: 'Bot' },
      performed_via_github_app: { slug: 'grokbot' },
    })
    await octo.rest.issues.updateComment({ ...hello, comment_id: made.id, body: 'Done.' })
    const { data: listed } = await octo.rest.issues.listComments({ ...hello, issue_number })
    expect(listed.map(each => [each.id, each.body])).toEqual([[made.id, 'Done.']])
    await octo.rest.issues.deleteComment({ ...hello, comment_id: made.id })
    expect((await outcome(octo.rest.issues.getComment({ ...hello, comment_id: made.id }))).status).toBe(404)
  })

  test('the same reaction again is answered 200 with the first one', async () => {
    const comment_id = fixture.github.comment({ repo: 'octo/hello', number: openIssue(), author: 'maria', body: '/grok fix' }).id
    const first = await octo.rest.reactions.createForIssueComment({ ...hello, comment_id, content: 'eyes' })
    const second = await octo.rest.reactions.createForIssueComment({ ...hello, comment_id, content: 'eyes' })
    expect([first.status, second.status, second.data.id]).toEqual([201, 200, first.data.id])
    await octo.rest.reactions.deleteForIssueComment({ ...hello, comment_id, reaction_id: first.data.id })
    expect((await octo.rest.reactions.listForIssueComment({ ...hello, comment_id })).data).toEqual([])
  })

  test('a deleted author is null', async () => {
    const { id } = fixture.github.comment({ repo: 'octo/hello', number: openIssue(), author: null, body: 'I was here' })
    expect((await octo.rest.issues.getComment({ ...hello, comment_id: id })).data).toMatchObject({ user: null, author_association: 'NONE' })
  })

  test('a person changes only own comments, unless they may write', async () => {
    const { github } = fixture
    github.addUser({ login: 'walter' })
    const { id } = github.comment({ repo: 'octo/hello', number: openIssue(), author: 'maria', body: 'mine' })
    const walter = octokit(github, github.userToken('walter'))
    const maria = octokit(github, github.userToken('maria'))
    expect((await outcome(walter.rest.issues.updateComment({ ...hello, comment_id: id, body: 'yours' }))).status).toBe(403)
    expect((await outcome(maria.rest.issues.updateComment({ ...hello, comment_id: id, body: 'still mine' }))).status).toBe(200)
  })

  test('lists come in pages with Link headers, 30 unless said otherwise and at most 100', async () => {
    const issue_number = openIssue()
    for (let at = 0; at < 205; at += 1)
      fixture.github.comment({ repo: 'octo/hello', number: issue_number, author: 'maria', body: `no. ${at}` })
    const first = await octo.rest.issues.listComments({ ...hello, issue_number })
    expect(first.data).toHaveLength(30)
    expect((await octo.rest.issues.listComments({ ...hello, issue_number, per_page: 1000 })).data).toHaveLength(100)
    const { headers } = await octo.rest.issues.listComments({ ...hello, issue_number, per_page: 100, page: 2 })
    const at = (page: number) => `<${fixture.github.url}/repos/octo/hello/issues/${issue_number}/comments?per_page=100&page=${page}>`
    expect(headers.link).toBe(`${at(1)}; rel="prev", ${at(3)}; rel="next", ${at(3)}; rel="last", ${at(1)}; rel="first"`)
    const all = await octo.paginate(octo.rest.issues.listComments, { ...hello, issue_number, per_page: 100 })
    expect(new Set(all.map(each => each.id)).size).toBe(205)
  })

  test('a locked conversation takes no comment of the App', async () => {
    const issue_number = openIssue()
    fixture.github.lock('octo/hello', issue_number)
    expect(await outcome(octo.rest.issues.createComment({ ...hello, issue_number, body: 'Hello' }))).toMatchObject({
      status: 403,
      data: { message: 'Unable to create comment because issue is locked.' },
    })
  })
})

describe('pull requests', () => {
  test('one is opened, shown with its figures and files, and linked to the issue it closes', async () => {
    const number = openIssue()
    const sha = await branch('grok/fix-1', { 'README.md': '# A repository\n\nWith text.\n', 'src/new file.txt': 'one\ntwo\n' })
    const { data: made } = await octo.rest.pulls.create({
      ...hello,
      head: 'grok/fix-1',
      base: 'trunk',
      title: 'Fix it',
      body: `Closes #${number}`,
      draft: true,
    })
    expect(made).toMatchObject({
      state: 'open',
      draft: true,
      commits: 1,
      additions: 4,
      deletions: 0,
      changed_files: 2,
      mergeable: null,
      head: { sha, ref: 'grok/fix-1' },
    })
    const { data: seen } = await octo.rest.pulls.get({ ...hello, pull_number: made.number })
    expect(seen).toMatchObject({ mergeable: true, mergeable_state: 'draft' })
    const { data: files } = await octo.rest.pulls.listFiles({ ...hello, pull_number: made.number })
    expect(files.map(file => [file.filename, file.status, file.additions])).toEqual([
      ['README.md', 'modified', 2],
      ['src/new file.txt', 'added', 2],
    ])
    expect(files[1]?.patch).toBe('@@ -0,0 +1,2 @@\n+one\n+two')
    const diff = await octo.rest.pulls.get({ ...hello, pull_number: made.number, mediaType: { format: 'diff' } })
    expect(String(diff.data)).toContain('diff --git a/README.md b/README.md')
    expect((await fixture.github.refs('octo/hello'))[`refs/pull/${made.number}/head`]).toBe(sha)
    await fixture.github.mergePull({ repo: 'octo/hello', number: made.number, sender: 'maria' })
    expect((await octo.rest.issues.get({ ...hello, issue_number: number })).data.state).toBe('closed')
    expect((await octo.rest.pulls.get({ ...hello, pull_number: made.number })).data).toMatchObject({
      state: 'closed',
      merged: true,
      merged_by: { login: 'maria' },
    })
  })

  test.each<[string, () => Promise<{ head: string; base: string }>, object[]]>([
    [
      'a head that is not there',
      async () => ({ head: 'nowhere', base: 'trunk' }),
      [{ resource: 'PullRequest', field: 'head', code: 'invalid' }],
    ],
    [
      'a base that is not there',
      async () => {
        await branch('based')
        return { head: 'based', base: 'nowhere' }
      },
      [{ resource: 'PullRequest', field: 'base', code: 'invalid' }],
    ],
    [
      'nothing between the two',
      async () => ({ head: 'trunk', base: 'trunk' }),
      [{ resource: 'PullRequest', code: 'custom', message: 'No commits between trunk and trunk' }],
    ],
    [
      'a second one for the same two branches',
      async () => {
        await branch('twice')
        await octo.rest.pulls.create({ ...hello, head: 'twice', base: 'trunk', title: 'First' })
        return { head: 'twice', base: 'trunk' }
      },
      [{ resource: 'PullRequest', code: 'custom', message: 'A pull request already exists for octo:twice.' }],
    ],
  ])('%s is 422 with the documented errors', async (_, prepare, errors) => {
    const result = await outcome(octo.rest.pulls.create({ ...hello, ...(await prepare()), title: 'T' }))
    expect(result).toMatchObject({ status: 422, data: { message: 'Validation Failed', errors } })
  })

  test('a fork opens one by owner:branch, its objects are fetchable by pull ref, and a deleted fork is null', async () => {
    const { github } = fixture
    await github.addRepository({ owner: 'fran', name: 'hello', forkOf: 'octo/hello' })
    const sha = await github.commit({ repo: 'fran/hello', branch: 'trunk', files: { 'f.txt': 'f\n' } })
    const { number } = await github.openPull({ repo: 'octo/hello', author: 'fran', title: 'From a fork', head: 'fran:trunk' })
    const { data } = await octo.rest.pulls.get({ ...hello, pull_number: number })
    expect(data).toMatchObject({
      head: { sha, label: 'fran:trunk', repo: { full_name: 'fran/hello', fork: true } },
      base: { repo: { full_name: 'octo/hello' } },
    })
    expect((await github.refs('octo/hello'))[`refs/pull/${number}/head`]).toBe(sha)
    await github.removeRepository('fran/hello')
    expect((await octo.rest.pulls.get({ ...hello, pull_number: number })).data.head.repo).toBeNull()
  })

  test('deleting the branch closes it; a review is asked only of people who can read', async () => {
    await branch('short')
    const { data } = await octo.rest.pulls.create({ ...hello, head: 'short', base: 'trunk', title: 'Short' })
    const ask = (reviewers: string[]) => outcome(octo.rest.pulls.requestReviewers({ ...hello, pull_number: data.number, reviewers }))
    expect(await ask(['maria'])).toMatchObject({ status: 201, data: { requested_reviewers: [{ login: 'maria' }] } })
    expect(await ask(['nobody-here'])).toMatchObject({ status: 422 })
    expect(await ask(['grokbot[bot]'])).toMatchObject({
      status: 422,
      data: { message: 'Review cannot be requested from pull request author.' },
    })
    await octo.rest.git.deleteRef({ ...hello, ref: 'heads/short' })
    expect((await octo.rest.pulls.get({ ...hello, pull_number: data.number })).data.state).toBe('closed')
  })
})

describe('refs, branches, contents and commits', () => {
  test('a ref is made, moved forward only, and deleted', async () => {
    const sha = await branch('ref-a')
    const trunk = (await fixture.github.refs('octo/hello'))['refs/heads/trunk'] ?? ''
    expect((await octo.rest.git.createRef({ ...hello, ref: 'refs/heads/ref-b', sha: trunk })).data).toMatchObject({
      ref: 'refs/heads/ref-b',
      object: { sha: trunk, type: 'commit' },
    })
    expect(await outcome(octo.rest.git.createRef({ ...hello, ref: 'refs/heads/ref-b', sha }))).toMatchObject({
      status: 422,
      data: { message: 'Reference already exists' },
    })
    expect((await octo.rest.git.updateRef({ ...hello, ref: 'heads/ref-b', sha })).data.object.sha).toBe(sha)
    expect(await outcome(octo.rest.git.updateRef({ ...hello, ref: 'heads/ref-b', sha: trunk }))).toMatchObject({
      status: 422,
      data: { message: 'Update is not a fast forward' },
    })
    expect((await octo.rest.git.getRef({ ...hello, ref: 'heads/ref-b' })).data.object.sha).toBe(sha)
    expect((await octo.rest.git.listMatchingRefs({ ...hello, ref: 'heads/ref-' })).data.map(each => each.ref)).toEqual([
      'refs/heads/ref-a',
      'refs/heads/ref-b',
    ])
    expect((await octo.rest.git.deleteRef({ ...hello, ref: 'heads/ref-b' })).status).toBe(204)
    expect((await outcome(octo.rest.git.getRef({ ...hello, ref: 'heads/ref-b' }))).status).toBe(404)
  })

  test('branches say whether they are protected, and a protected one is not moved by the API', async () => {
    await branch('release/2.x')
    fixture.github.protectBranch('octo/hello', 'release/2.x')
    const { data } = await octo.rest.repos.getBranch({ ...hello, branch: 'release/2.x' })
    expect(data).toMatchObject({ name: 'release/2.x', protected: true, commit: { commit: { message: 'A change' } } })
    expect((await outcome(octo.rest.repos.getBranchProtection({ ...hello, branch: 'release/2.x' }))).status).toBe(403)
    expect((await octo.rest.repos.listBranches(hello)).data.find(each => each.name === 'trunk')?.protected).toBe(false)
    const sha = await branch('other')
    expect((await outcome(octo.rest.git.updateRef({ ...hello, ref: 'heads/release/2.x', sha, force: true }))).status).toBe(422)
  })

  test('a file, a folder, a symlink and bytes that are no text are read at a ref', async () => {
    const bytes = Buffer.from([0, 255, 128, 10, 195])
    const sha = await fixture.github.commit({
      repo: 'octo/hello',
      branch: 'contents',
      files: { 'a/b.txt': 'text\n', 'a/link': { content: 'b.txt', mode: '120000' }, 'a/bytes': bytes },
    })
    const read = (path: string) => octo.rest.repos.getContent({ ...hello, path, ref: sha })
    expect((await read('a/b.txt')).data).toMatchObject({ type: 'file', encoding: 'base64', size: 5, content: 'dGV4dAo=\n' })
    expect((await read('a')).data).toMatchObject([
      { name: 'b.txt', type: 'file' },
      { name: 'bytes', type: 'file' },
      { name: 'link', type: 'symlink' },
    ])
    expect((await read('a/link')).data).toMatchObject({ type: 'symlink', target: 'b.txt' })
    const raw = await fetch(`${fixture.github.url}/repos/octo/hello/contents/a/bytes?ref=${sha}`, {
      headers: {
        accept: 'application/vnd.github.raw',
        'user-agent': 'test',
        authorization: `Bearer ${await mint(fixture.github, 'octo')}`,
      },
    })
    expect(Buffer.from(await raw.arrayBuffer())).toEqual(bytes)
    expect((await outcome(read('nothing'))).status).toBe(404)
    const commit = await octo.rest.repos.getCommit({ ...hello, ref: 'contents' })
    expect(commit.data).toMatchObject({
      sha,
      commit: { message: 'A change' },
      files: [{ filename: 'a/b.txt' }, { filename: 'a/bytes' }, { filename: 'a/link' }],
    })
  })
})

describe('check runs and labels', () => {
  test('a check run is made and ended; annotations add up over its updates', async () => {
    const head_sha = await branch('checked')
    const annotation = { path: 'README.md', start_line: 1, end_line: 1, annotation_level: 'warning', message: 'Look here' } as const
    const output = { title: 'Working', summary: 'So far' }
    const { data: run } = await octo.rest.checks.create({
      ...hello,
      name: 'grok',
      head_sha,
      external_id: 'task-1',
      status: 'in_progress',
      output: { ...output, annotations: [annotation] },
    })
    await octo.rest.checks.update({ ...hello, check_run_id: run.id, output: { ...output, annotations: [annotation] } })
    const { data: ended } = await octo.rest.checks.update({ ...hello, check_run_id: run.id, conclusion: 'success' })
    expect(ended).toMatchObject({ status: 'completed', conclusion: 'success', external_id: 'task-1', output: { annotations_count: 2 } })
    expect((await octo.rest.checks.listForRef({ ...hello, ref: head_sha })).data).toMatchObject({
      total_count: 1,
      check_runs: [{ id: run.id }],
    })
    expect((await octo.rest.checks.listAnnotations({ ...hello, check_run_id: run.id })).data).toHaveLength(2)
  })

  test('labels are made by being put on an issue', async () => {
    const issue_number = openIssue()
    await octo.rest.issues.addLabels({ ...hello, issue_number, labels: ['bug', 'BUG', 'small'] })
    await octo.rest.issues.removeLabel({ ...hello, issue_number, name: 'small' })
    expect((await octo.rest.issues.listLabelsOnIssue({ ...hello, issue_number })).data.map(each => each.name)).toEqual(['bug'])
  })
})

describe('what GitHub refuses', () => {
  const long = 'x'.repeat(65_537)
  test.each<[string, () => Promise<{ status: number; data: unknown }>, { status: number; data: object }]>([
    [
      'a comment that is too long',
      () => octo.rest.issues.createComment({ ...hello, issue_number: openIssue(), body: long }),
      {
        status: 422,
        data: {
          errors: [
            { resource: 'IssueComment', code: 'unprocessable', field: 'data', message: 'Body is too long (maximum is 65536 characters)' },
          ],
        },
      },
    ],
    [
      'an empty comment',
      () => octo.rest.issues.createComment({ ...hello, issue_number: openIssue(), body: ' ' }),
      { status: 422, data: { errors: [{ resource: 'IssueComment', code: 'missing_field', field: 'body' }] } },
    ],
    [
      'a title that is too long',
      () => octo.rest.issues.create({ ...hello, title: 'x'.repeat(257) }),
      {
        status: 422,
        data: { errors: [{ resource: 'Issue', code: 'custom', field: 'title', message: 'title is too long (maximum is 256 characters)' }] },
      },
    ],
    [
      'a body of the wrong type',
      () => octo.request('POST /repos/octo/hello/issues/1/comments', { body: 7 }),
      { status: 422, data: { message: expect.stringContaining("For 'properties/body', 7") } },
    ],
    [
      'a missing field',
      () => octo.request('POST /repos/octo/hello/pulls', { title: 'T', base: 'trunk' }),
      { status: 422, data: { message: 'Invalid request.\n\n"head" wasn\'t supplied.' } },
    ],
    [
      'a misspelt field',
      () => octo.request('POST /repos/octo/hello/issues/1/comments', { body: 'b', boddy: 'c' }),
      { status: 422, data: { message: 'Invalid request.\n\n"boddy" is not a permitted key.' } },
    ],
    [
      'an unknown reaction',
      () => octo.request('POST /repos/octo/hello/issues/1/reactions', { content: 'shrug' }),
      { status: 422, data: { message: expect.stringContaining('"shrug"') } },
    ],
    [
      'an issue that is not there',
      () => octo.rest.issues.get({ ...hello, issue_number: 9999 }),
      { status: 404, data: { message: 'Not Found' } },
    ],
    ['a pull request by the number of an issue', () => octo.rest.pulls.get({ ...hello, pull_number: 1 }), { status: 404, data: {} }],
    [
      'a check run with 51 annotations',
      async () => {
        const annotations = Array.from({ length: 51 }, () => ({
          path: 'a',
          start_line: 1,
          end_line: 1,
          annotation_level: 'notice' as const,
          message: 'm',
        }))
        return octo.rest.checks.create({
          ...hello,
          name: 'c',
          head_sha: await branch('many'),
          output: { title: 't', summary: 's', annotations },
        })
      },
      { status: 422, data: {} },
    ],
    [
      'a check run on a commit that is not there',
      () => octo.rest.checks.create({ ...hello, name: 'c', head_sha: '1'.repeat(40) }),
      { status: 422, data: { message: `No commit found for SHA: ${'1'.repeat(40)}` } },
    ],
    [
      "a conclusion that is GitHub's own",
      () => octo.request('POST /repos/octo/hello/check-runs', { name: 'c', head_sha: '1'.repeat(40), conclusion: 'stale' }),
      { status: 422, data: {} },
    ],
  ])('%s', async (_, request, expected) => {
    openIssue()
    expect(await outcome(request())).toMatchObject(expected)
  })

  test('65,536 characters count as characters, not as bytes', async () => {
    const body = '𝒳'.repeat(65_536)
    expect((await outcome(octo.rest.issues.createComment({ ...hello, issue_number: openIssue(), body }))).status).toBe(201)
  })

  test('broken JSON, a list as body and a request without an agent', async () => {
    const authorization = `Bearer ${await mint(fixture.github, 'octo')}`
    const post = async (body: string, headers: Record<string, string>) => {
      const response = await fetch(`${fixture.github.url}/repos/octo/hello/issues`, {
        method: 'POST',
        body,
        headers: { authorization, ...headers },
      })
      return { status: response.status, message: ((await response.json()) as { message: string }).message }
    }
    expect(await post('{"title":', { 'user-agent': 't' })).toEqual({ status: 400, message: 'Problems parsing JSON' })
    expect(await post('[1]', { 'user-agent': 't' })).toEqual({ status: 400, message: 'Body should be a JSON object' })
    expect((await post('{"title":"t"}', { 'user-agent': '' })).status).toBe(403)
  })

  test('an archived repository takes no writes', async () => {
    await fixture.github.addRepository({ owner: 'octo', name: 'old' })
    fixture.github.archive('octo/old')
    expect(await outcome(octo.rest.issues.create({ owner: 'octo', repo: 'old', title: 't' }))).toMatchObject({
      status: 403,
      data: { message: 'Repository was archived so is read-only.' },
    })
  })

  test('issue permission alone does not reach a pull request, nor the other way round', async () => {
    await branch('scoped')
    const pull = await fixture.github.openPull({ repo: 'octo/hello', author: 'maria', title: 'Scoped', head: 'scoped' })
    const issues = octokit(fixture.github, await mint(fixture.github, 'octo', { permissions: { issues: 'write' } }))
    const pulls = octokit(fixture.github, await mint(fixture.github, 'octo', { permissions: { pull_requests: 'write' } }))
    const say = (who: Octokit, issue_number: number) =>
      outcome(who.rest.issues.createComment({ ...hello, issue_number, body: 'b' })).then(each => each.status)
    const issue = openIssue()
    expect([await say(issues, issue), await say(issues, pull.number), await say(pulls, issue), await say(pulls, pull.number)]).toEqual([
      201, 403, 403, 201,
    ])
  })
})

describe('manners of the server', () => {
  test('an unchanged answer is 304 to whoever has its ETag, and rate headers count down', async () => {
    const first = await octo.rest.repos.get(hello)
    expect(await outcome(octo.rest.repos.get({ ...hello, headers: { 'if-none-match': first.headers.etag ?? '' } }))).toMatchObject({
      status: 304,
    })
    const second = await octo.rest.repos.get(hello)
    expect(Number(first.headers['x-ratelimit-remaining']) - Number(second.headers['x-ratelimit-remaining'])).toBe(2)
  })

  test('a renamed repository is found under its old name by redirect', async () => {
    const { github } = fixture
    const { id } = await github.addRepository({ owner: 'octo', name: 'before' })
    github.renameRepository('octo/before', 'after')
    expect((await octo.rest.repos.get({ owner: 'octo', repo: 'before' })).data).toMatchObject({ id, full_name: 'octo/after' })
    const response = await fetch(`${github.url}/repos/octo/before/issues`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'user-agent': 't' },
    })
    expect([response.status, response.headers.get('location')]).toEqual([307, `${github.url}/repositories/${id}/issues`])
  })

  test('an unknown route is 404 and fails the test that asks for it', async () => {
    const { github } = fixture
    const before = github.state.requests.length
    expect(() => github.assertNoUnknownRequests()).not.toThrow()
    expect((await outcome(octo.request('GET /repos/octo/hello/topics'))).status).toBe(404)
    expect(() => github.assertNoUnknownRequests()).toThrow('GET /api/v3/repos/octo/hello/topics')
    github.state.requests.splice(before)
  })
})
