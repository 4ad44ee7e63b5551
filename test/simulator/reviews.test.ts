import type { Octokit } from '@octokit/rest'
import { beforeAll, describe, expect, test } from 'vitest'
import { mint, octokit, outcome, useSimulator } from './fixture.ts'

const fixture = useSimulator()
const hello = { owner: 'octo', repo: 'hello' }
const repo = 'octo/hello'
const lines = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => `line ${from + at}\n`).join('')
let octo: Octokit
let maria: Octokit
let pull_number: number
let head: string
let base: string

/** In `app.ts` lines 10 and 40 are changed, and 41 is new; the hunks show 7-13 and 37-44. */
beforeAll(async () => {
  const { github } = fixture
  base = await github.commit({
    repo,
    branch: 'trunk',
    files: { 'app.ts': lines(1, 60), 'old.txt': lines(1, 9), 'logo.png': Buffer.from([0, 1]) },
  })
  const changed = `${lines(1, 9)}ten\n${lines(11, 39)}forty\nnew\n${lines(41, 60)}`
  const files = { 'app.ts': changed, 'old.txt': null, 'new.txt': lines(1, 9), 'logo.png': Buffer.from([0, 2]) }
  head = await github.commit({ repo, branch: 'topic', files, from: base })
  pull_number = (await github.openPull({ repo, author: 'maria', title: 'Pull', head: 'topic' })).number
  octo = octokit(github, await mint(github, 'octo'))
  maria = octokit(github, github.userToken('maria'))
  github.setPermission(repo, 'ann', 'write')
})

type Wish = { event?: 'APPROVE' | 'REQUEST_CHANGES' | 'COMMENT'; body?: string; commit_id?: string; comments?: object[] }
const review = (wish: Wish, as = octo) =>
  outcome(as.request('POST /repos/octo/hello/pulls/{pull_number}/reviews', { pull_number, ...wish } as never))
const comment = (wish: object, as = octo) =>
  outcome(as.request('POST /repos/octo/hello/pulls/{pull_number}/comments', { pull_number, commit_id: head, body: 'b', ...wish } as never))
const count = async () => (await octo.rest.pulls.listReviews({ ...hello, pull_number, per_page: 100 })).data.length

describe('a review', () => {
  test('is posted with its comments, each where it belongs in the diff', async () => {
    const comments = [
      { path: 'app.ts', line: 10, body: 'changed' },
      { path: 'app.ts', line: 10, side: 'LEFT', body: 'what it was' },
      { path: 'app.ts', start_line: 38, line: 41, body: 'several lines' },
      { path: 'app.ts', start_line: 40, start_side: 'LEFT', line: 40, side: 'RIGHT', body: 'both' },
      { path: 'app.ts', position: 4, body: 'by position' },
      { path: 'new.txt', line: 1, body: 'not in the diff' },
    ]
    const refused = await review({ event: 'COMMENT', body: 'Summary', comments })
    expect(refused).toEqual({
      status: 422,
      data: {
        message: 'Unprocessable Entity',
        errors: ['Line could not be resolved'],
        documentation_url: 'https://docs.github.com/rest',
        status: '422',
      },
    })
    const { status, data } = await review({ event: 'COMMENT', body: 'Summary', comments: comments.slice(0, 5) })
    expect([status, data]).toMatchObject([200, { state: 'COMMENTED', body: 'Summary', commit_id: head, user: { login: 'grokbot[bot]' } }])
    const { id } = data as { id: number }
    const shown = (await octo.rest.pulls.listCommentsForReview({ ...hello, pull_number, review_id: id })).data
    expect(shown.map(each => [each.body, each.start_side, each.start_line, each.side, each.line, each.position])).toEqual([
      ['changed', null, null, 'RIGHT', 10, 5],
      ['what it was', null, null, 'LEFT', 10, 4],
      ['several lines', 'RIGHT', 38, 'RIGHT', 41, 15],
      ['both', 'LEFT', 40, 'RIGHT', 40, 14],
      ['by position', null, null, 'LEFT', 10, 4],
    ])
    expect(shown[1]).toMatchObject({
      pull_request_review_id: id,
      commit_id: head,
      original_commit_id: head,
      diff_hunk: '@@ -7,7 +7,7 @@ line 6\n line 7\n line 8\n line 9\n-line 10',
    })
  })

  const at = (place: object) => ({ comments: [{ path: 'app.ts', body: 'b', ...place }] })
  test.each<[string, Wish, string]>([
    ['a line between the hunks', at({ line: 20 }), 'Line could not be resolved'],
    ['a line after the end of the file', at({ line: 99 }), 'Line could not be resolved'],
    ['line 0', at({ line: 0 }), 'Line could not be resolved'],
    ['a new line on the old side', at({ line: 45, side: 'LEFT' }), 'Line could not be resolved'],
    ['a file that is not changed', at({ path: 'README.md', line: 1 }), 'Path could not be resolved'],
    ['a renamed file by its old name', at({ path: 'old.txt', line: 1 }), 'Path could not be resolved'],
    ['a renamed file without a change', at({ path: 'new.txt', line: 1 }), 'Line could not be resolved'],
    ['a binary file', at({ path: 'logo.png', line: 1 }), 'Line could not be resolved'],
    ['a start on the end', at({ start_line: 10, line: 10 }), 'Pull request review thread start line must precede the end line.'],
    ['a start after the end', at({ start_line: 12, line: 10 }), 'Pull request review thread start line must precede the end line.'],
    [
      'a start in another hunk',
      at({ start_line: 10, line: 40 }),
      'Pull request review thread start line must be part of the same hunk as the line.',
    ],
    [
      'a start between the hunks',
      at({ start_line: 30, line: 40 }),
      'Pull request review thread start line must be part of the same hunk as the line.',
    ],
    [
      'a position below the last',
      at({ position: 99 }),
      "Pull request review thread position is invalid and Pull request review thread diff hunk can't be blank",
    ],
    [
      'no line',
      at({}),
      'Variable $threads of type [DraftPullRequestReviewThread] was provided invalid value for 0.line (Expected value to not be null)',
    ],
    ['a commit of nobody', { commit_id: '1'.repeat(40), body: 'b' }, 'The commitOID is not part of the pull request'],
    ['nothing said', { event: 'COMMENT' }, "Body can't be blank"],
    ['changes asked for without a word', { event: 'REQUEST_CHANGES', body: ' ' }, "Body can't be blank"],
    ['too much said', { event: 'COMMENT', body: 'x'.repeat(65_537) }, 'Body is too long (maximum is 65536 characters)'],
  ])('on %s is refused as a whole', async (_, wish, error) => {
    const before = fixture.github.state.repositories.get(repo)?.reviews.size
    const whole = { event: 'COMMENT' as const, ...(wish.event || wish.commit_id ? {} : { body: 'Summary' }), ...wish }
    expect(await review(whole)).toMatchObject({ status: 422, data: { message: 'Unprocessable Entity', errors: [error] } })
    expect(fixture.github.state.repositories.get(repo)?.reviews.size).toBe(before)
  })

  test('of a commit that is not of the pull request, or by whom it belongs to, is not approved', async () => {
    expect(await review({ commit_id: base, event: 'COMMENT', body: 'b' })).toMatchObject({ status: 422 })
    const own = { status: 422, data: { errors: ['Can not approve your own pull request'] } }
    expect(await review({ event: 'APPROVE' }, maria)).toMatchObject(own)
    expect(await review({ event: 'REQUEST_CHANGES', body: 'b' }, maria)).toMatchObject({ status: 422 })
    expect((await review({ event: 'COMMENT', body: 'My own' }, maria)).status).toBe(200)
  })

  test('takes no subject_type, no state and no side that is not there', async () => {
    const message = 'Invalid request.\n\n"subject_type" is not a permitted key.'
    expect(await review({ comments: [{ path: 'app.ts', body: 'b', subject_type: 'file' }] })).toMatchObject({
      status: 422,
      data: { message },
    })
    expect((await review({ comments: [{ path: 'app.ts', body: 'b', line: 10, side: 'right' }] })).status).toBe(422)
    expect((await review({ event: 'PENDING' as never, body: 'b' })).status).toBe(422)
  })

  test('that is pending is its author alone, is the only one, and holds back every other word of theirs until it is sent', async () => {
    const draft = await review({ body: 'Draft', comments: [{ path: 'app.ts', line: 10, body: 'hidden' }] })
    expect(draft).toMatchObject({ status: 200, data: { state: 'PENDING' } })
    expect(draft.data).not.toHaveProperty('submitted_at')
    const review_id = (draft.data as { id: number }).id
    const one = { ...hello, pull_number, review_id }
    const [mine, others] = await Promise.all([octo, maria].map(each => each.rest.pulls.listReviews({ ...hello, pull_number })))
    expect((mine?.data.length ?? 0) - (others?.data.length ?? 0)).toBe(1)
    expect((await outcome(maria.rest.pulls.getReview(one))).status).toBe(404)
    const shown = await maria.rest.pulls.listReviewComments({ ...hello, pull_number, per_page: 100 })
    expect(shown.data.filter(each => each.body === 'hidden')).toEqual([])
    const error = 'User can only have one pending review per pull request'
    expect(await review({ event: 'COMMENT', body: 'Another' })).toMatchObject({ status: 422, data: { errors: [error] } })
    expect(await comment({ path: 'app.ts', line: 10 })).toMatchObject({
      status: 422,
      data: { errors: [{ resource: 'PullRequestReview', field: 'user_id', message: expect.stringContaining('only have one pending') }] },
    })
    expect((await octo.rest.pulls.submitReview({ ...one, event: 'COMMENT', body: 'Sent' })).data).toMatchObject({
      state: 'COMMENTED',
      body: 'Sent',
      submitted_at: expect.any(String),
    })
    expect((await outcome(octo.rest.pulls.submitReview({ ...one, event: 'COMMENT' }))).status).toBe(422)
    expect((await outcome(octo.rest.pulls.deletePendingReview(one))).status).toBe(422)
  })

  test('that is pending can be deleted; one that was sent is edited, and dismissed if it decided something', async () => {
    const { github } = fixture
    const before = await count()
    const { data } = await octo.rest.pulls.createReview({ ...hello, pull_number, body: 'Draft' })
    await octo.rest.pulls.deletePendingReview({ ...hello, pull_number, review_id: Number(data.id) })
    expect(await count()).toBe(before)
    const asked = await github.review({ repo, number: pull_number, author: 'ann', event: 'REQUEST_CHANGES', body: 'No' })
    const one = { ...hello, pull_number, review_id: asked.id }
    expect((await octo.rest.pulls.updateReview({ ...one, body: 'No, because' })).data.body).toBe('No, because')
    expect((await octo.rest.pulls.dismissReview({ ...one, message: 'Done' })).data.state).toBe('DISMISSED')
    expect(await outcome(octo.rest.pulls.dismissReview({ ...one, message: 'Again' }))).toMatchObject({
      data: { errors: ['Can not dismiss a dismissed pull request review'] },
    })
    github.setPermission(repo, 'reader', 'read')
    const reader = octokit(github, github.userToken('reader'))
    expect((await outcome(reader.rest.pulls.updateReview({ ...one, body: 'x' }))).status).toBe(403)
    expect((await outcome(octo.rest.pulls.getReview({ ...one, pull_number: 9999 }))).status).toBe(404)
  })

  test('takes its author from those who were asked for one', async () => {
    const { github } = fixture
    await octo.rest.pulls.requestReviewers({ ...hello, pull_number, reviewers: ['ann'] })
    await github.review({ repo, number: pull_number, author: 'ann', event: 'APPROVE' })
    expect((await octo.rest.pulls.listRequestedReviewers({ ...hello, pull_number })).data.users).toEqual([])
  })
})

describe('a comment on the diff', () => {
  const resource = 'PullRequestReviewComment'
  const noHunk = { resource, code: 'missing_field', field: 'pull_request_review_thread.diff_hunk' }
  test.each<[string, object, object[]]>([
    [
      'a line that is not in the diff',
      { path: 'app.ts', line: 20 },
      [
        {
          resource,
          code: 'custom',
          field: 'pull_request_review_thread.line',
          message: 'pull_request_review_thread.line must be part of the diff',
        },
        noHunk,
      ],
    ],
    [
      'a path that is not in the diff',
      { path: 'README.md', line: 1 },
      [{ resource, code: 'invalid', field: 'pull_request_review_thread.path' }, noHunk],
    ],
    [
      'a commit that is not in the pull request',
      { path: 'app.ts', line: 10, commit_id: '2'.repeat(40) },
      [{ resource, code: 'custom', field: 'commit_id', message: 'commit_id is not part of the pull request' }],
    ],
    ['no text', { path: 'app.ts', line: 10, body: ' ' }, [{ resource, code: 'missing_field', field: 'body' }]],
    ['an unknown comment', { in_reply_to: 7 }, [{ resource, code: 'invalid', field: 'in_reply_to' }]],
  ])('on %s is 422', async (_, wish, errors) => {
    expect(await comment(wish)).toMatchObject({ status: 422, data: { message: 'Validation Failed', errors } })
  })

  test('on a whole file needs no line, also where there is no patch', async () => {
    const made = await comment({ path: 'logo.png', subject_type: 'file' })
    expect(made).toMatchObject({ status: 201, data: { path: 'logo.png', subject_type: 'file', diff_hunk: '' } })
    expect((await comment({ path: 'README.md', subject_type: 'file' })).status).toBe(422)
  })

  test('is answered in its thread, edited and deleted; a reply is not replied to', async () => {
    const first = (await comment({ path: 'app.ts', line: 10, body: 'Why?' })).data as { id: number; pull_request_review_id: number }
    const { data: second } = await octo.rest.pulls.createReplyForReviewComment({ ...hello, pull_number, comment_id: first.id, body: 'So.' })
    expect(second).toMatchObject({ in_reply_to_id: first.id, path: 'app.ts', line: 10, body: 'So.' })
    expect(second.pull_request_review_id).not.toBe(first.pull_request_review_id)
    const third = await comment({ in_reply_to: first.id, body: 'And so.' })
    expect(third).toMatchObject({ status: 201, data: { in_reply_to_id: first.id } })
    const reply = { ...hello, pull_number, comment_id: second.id, body: 'x' }
    expect((await outcome(octo.rest.pulls.createReplyForReviewComment(reply))).status).toBe(422)
    await octo.rest.pulls.updateReviewComment({ ...hello, comment_id: second.id, body: 'Thus.' })
    expect((await octo.rest.pulls.getReviewComment({ ...hello, comment_id: second.id })).data.body).toBe('Thus.')
    expect((await octo.rest.pulls.deleteReviewComment({ ...hello, comment_id: second.id })).status).toBe(204)
    expect((await outcome(octo.rest.pulls.getReviewComment({ ...hello, comment_id: second.id }))).status).toBe(404)
  })

  test('takes reactions', async () => {
    const { id: comment_id } = await fixture.github.reviewComment({
      repo,
      number: pull_number,
      author: 'ann',
      path: 'app.ts',
      line: 10,
      body: '?',
    })
    const made = await octo.rest.reactions.createForPullRequestReviewComment({ ...hello, comment_id, content: 'eyes' })
    const again = await octo.rest.reactions.createForPullRequestReviewComment({ ...hello, comment_id, content: 'eyes' })
    expect([made.status, again.status, again.data.id]).toEqual([201, 200, made.data.id])
    expect((await octo.rest.pulls.getReviewComment({ ...hello, comment_id })).data.reactions).toMatchObject({ total_count: 1, eyes: 1 })
    await octo.rest.reactions.deleteForPullRequestComment({ ...hello, comment_id, reaction_id: made.data.id })
    expect((await octo.rest.reactions.listForPullRequestReviewComment({ ...hello, comment_id })).data).toEqual([])
  })

  test('is no comment of the conversation, nor the other way round', async () => {
    const { github } = fixture
    const inline = await github.reviewComment({ repo, number: pull_number, author: 'ann', path: 'app.ts', line: 10, body: '?' })
    const plain = github.comment({ repo, number: pull_number, author: 'ann', body: '?' })
    expect((await outcome(octo.rest.issues.getComment({ ...hello, comment_id: inline.id }))).status).toBe(404)
    expect((await outcome(octo.rest.pulls.getReviewComment({ ...hello, comment_id: plain.id }))).status).toBe(404)
  })

  test('needs the permission for pull requests', async () => {
    const issues = octokit(fixture.github, await mint(fixture.github, 'octo', { permissions: { issues: 'write' } }))
    expect((await comment({ path: 'app.ts', line: 10 }, issues)).status).toBe(403)
    expect((await review({ event: 'COMMENT', body: 'b' }, issues)).status).toBe(403)
  })
})

test('after a push a comment goes with its line, and is outdated once that was changed', async () => {
  const { github } = fixture
  const from = await github.commit({ repo, branch: 'moving-base', files: { 'm.ts': lines(1, 30) }, from: base })
  await github.commit({ repo, branch: 'moving', files: { 'm.ts': `${lines(1, 9)}ten\n${lines(11, 19)}twenty\n${lines(21, 30)}` }, from })
  const { number } = await github.openPull({ repo, author: 'maria', title: 'Moving', head: 'moving', base: 'moving-base' })
  const on = async (line: number) => (await github.reviewComment({ repo, number, author: 'ann', path: 'm.ts', line, body: '?' })).id
  const [kept, changed] = [await on(20), await on(10)]
  const now = async (comment_id: number) => {
    const { line, original_line, position, commit_id } = (await octo.rest.pulls.getReviewComment({ ...hello, comment_id })).data
    return { line, original_line, position, commit_id }
  }
  const old = (await now(changed)).commit_id
  const sha = await github.commit({
    repo,
    branch: 'moving',
    files: { 'm.ts': `first\n${lines(1, 9)}10\n${lines(11, 19)}twenty\n${lines(21, 30)}` },
  })
  expect(await now(kept)).toEqual({ line: 21, original_line: 20, position: 19, commit_id: sha })
  expect(await now(changed)).toEqual({ line: null, original_line: 10, position: null, commit_id: old })
})
