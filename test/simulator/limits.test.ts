import type { Octokit } from '@octokit/rest'
import { beforeAll, describe, expect, test } from 'vitest'
import { mint, octokit, outcome, useSimulator } from './fixture.ts'

const fixture = useSimulator()
const hello = { owner: 'octo', repo: 'hello' }
const repo = 'octo/hello'
let octo: Octokit
let head_sha: string
let pull_number: number

beforeAll(async () => {
  const { github } = fixture
  octo = octokit(github, await mint(github, 'octo'))
  const from = (await github.refs(repo))['refs/heads/trunk'] ?? ''
  head_sha = await github.commit({ repo, branch: 'topic', files: { a: 'a\n' }, from })
  pull_number = (await github.openPull({ repo, author: 'maria', title: 'Pull', head: 'topic' })).number
})

const annotation = { path: 'a', start_line: 1, end_line: 1, annotation_level: 'notice', message: 'm' }
const action = { label: 'Fix', description: 'Fix it', identifier: 'fix' }
const create = (wish: object) =>
  outcome(octo.request('POST /repos/octo/hello/check-runs', { name: 'grok / review', head_sha, ...wish } as never))
const output = (more: object) => ({ output: { title: 't', summary: 's', ...more } })

describe('a check run takes no more than', () => {
  test.each<[string, object, string]>([
    ['a summary of 65,535 characters', output({ summary: 'x'.repeat(65_536) }), 'Only 65535 characters are allowed; 65536 were supplied.'],
    ['a text of 65,535 characters', output({ text: 'x'.repeat(70_000) }), 'Only 65535 characters are allowed; 70000 were supplied.'],
    [
      '50 annotations at a time',
      output({ annotations: Array(51).fill(annotation) }),
      'No more than 50 items are allowed; 51 were supplied.',
    ],
    ['three buttons', { actions: Array(4).fill(action) }, 'No more than 3 items are allowed; 4 were supplied.'],
    ['20 characters on a button', { actions: [{ ...action, label: 'x'.repeat(21) }] }, 'Only 20 characters are allowed; 21 were supplied.'],
    [
      '20 characters behind it',
      { actions: [{ ...action, identifier: 'x'.repeat(21) }] },
      'Only 20 characters are allowed; 21 were supplied.',
    ],
    [
      '40 characters about it',
      { actions: [{ ...action, description: '😀'.repeat(41) }] },
      'Only 40 characters are allowed; 41 were supplied.',
    ],
    [
      '255 characters over an annotation',
      output({ annotations: [{ ...annotation, title: 'x'.repeat(256) }] }),
      'Only 255 characters are allowed; 256 were supplied.',
    ],
  ])('%s', async (_, wish, message) => {
    expect(await create(wish)).toMatchObject({ status: 422, data: { message: `Invalid request.\n\n${message}` } })
  })

  test('65,535 bytes of text, however few characters they are', async () => {
    const summary = '😀'.repeat(20_000)
    expect(await create(output({ summary }))).toMatchObject({
      status: 422,
      data: {
        message: 'Validation Failed',
        errors: [{ resource: 'CheckRun', code: 'custom', field: 'summary', message: 'summary exceeds a maximum bytesize of 65535' }],
      },
    })
    expect((await create(output({ summary: 'x'.repeat(65_535) }))).status).toBe(201)
  })

  test('as much as GitHub allows, and later annotations beside the first', async () => {
    const made = await create({
      ...output({ annotations: Array(50).fill(annotation) }),
      actions: Array(3).fill({ label: '😀'.repeat(20), description: 'd'.repeat(40), identifier: 'i'.repeat(20) }),
    })
    expect(made).toMatchObject({ status: 201, data: { output: { annotations_count: 50 } } })
    const check_run_id = (made.data as { id: number }).id
    const more = { title: 't', summary: 's', annotations: Array(50).fill(annotation) }
    expect((await octo.rest.checks.update({ ...hello, check_run_id, output: more })).data.output.annotations_count).toBe(100)
  })

  test.each<[string, object, object]>([
    ['an end without how it ended', { status: 'completed' }, { message: 'Invalid request.\n\n"conclusion" wasn\'t supplied.' }],
    ['a title with its output, or none', { output: { summary: 's' } }, { message: 'Invalid request.\n\n"title" wasn\'t supplied.' }],
    [
      'columns over several lines',
      output({ annotations: [{ ...annotation, end_line: 2, start_column: 1 }] }),
      { errors: [{ resource: 'CheckAnnotation', code: 'invalid', field: 'start_column' }] },
    ],
    [
      'lines from below to above',
      output({ annotations: [{ ...annotation, start_line: 3, end_line: 2 }] }),
      { errors: [{ resource: 'CheckAnnotation', code: 'invalid', field: 'end_line' }] },
    ],
  ])('what makes sense: not %s', async (_, wish, data) => {
    expect(await create(wish)).toMatchObject({ status: 422, data })
  })
})

test('65,536 characters are the most anybody says anywhere, and one more is 422', async () => {
  const { github } = fixture
  const issue_number = github.openIssue({ repo, author: 'maria', title: 'T' }).number
  const { id: comment_id } = github.comment({ repo, number: issue_number, author: 'maria', body: 'b' })
  const inline = await github.reviewComment({ repo, number: pull_number, author: 'maria', path: 'a', line: 1, body: 'b' })
  const body = '😀'.repeat(65_537)
  const at = { path: 'a', line: 1, commit_id: head_sha }
  const says: [string, () => Promise<{ status: number; data: unknown }>][] = [
    ['Body is too long', () => octo.rest.issues.createComment({ ...hello, issue_number, body })],
    ['Body is too long', () => octo.rest.issues.updateComment({ ...hello, comment_id, body })],
    ['body is too long', () => octo.rest.issues.create({ ...hello, title: 't', body })],
    ['body is too long', () => octo.rest.issues.update({ ...hello, issue_number, body })],
    ['body is too long', () => octo.rest.pulls.update({ ...hello, pull_number, body })],
    ['body is too long', () => octo.rest.pulls.create({ ...hello, title: 't', head: 'topic', base: 'trunk', body })],
    ['Body is too long', () => octo.rest.pulls.createReview({ ...hello, pull_number, event: 'COMMENT', body })],
    [
      'Body is too long',
      () => octo.rest.pulls.createReview({ ...hello, pull_number, event: 'COMMENT', comments: [{ path: 'a', line: 1, body }] }),
    ],
    ['Body is too long', () => octo.rest.pulls.createReviewComment({ ...hello, pull_number, ...at, body })],
    ['Body is too long', () => octo.rest.pulls.updateReviewComment({ ...hello, comment_id: inline.id, body })],
    ['Body is too long', () => octo.rest.pulls.createReplyForReviewComment({ ...hello, pull_number, comment_id: inline.id, body })],
  ]
  for (const [words, say] of says) {
    const { status, data } = await outcome(say())
    const [error] = (data as { errors?: (string | { message: string })[] }).errors ?? []
    const text = typeof error === 'object' ? error.message : error
    expect([say.toString(), status, text]).toEqual([say.toString(), 422, `${words} (maximum is 65536 characters)`])
  }
  const just = '😀'.repeat(65_536)
  expect((await outcome(octo.rest.issues.updateComment({ ...hello, comment_id, body: just }))).status).toBe(200)
})
