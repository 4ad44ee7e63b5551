import webhookExamples from '@octokit/webhooks-examples'
import { describe, expect, it, test } from 'vitest'
import { readEvent } from '../../app/read-event.ts'
import { isServedEvent, servedEvents } from '../../app/served-events.ts'

// The package's types describe a module object where its code exports the list itself.
const examples = webhookExamples as unknown as { name: string; examples: { action?: string }[] }[]

const user = { login: 'mona', id: 7, type: 'User' }
const repository = { id: 3, name: 'parser', owner: { login: 'octo' } }
const common = { repository, installation: { id: 5 }, sender: user }
const thread = { id: 40, number: 12, title: 'A title', body: '/grok fix', created_at: '2026-11-30T10:00:00Z', user, locked: false }
const comment = { id: 41, body: '/grok fix', created_at: '2026-11-30T10:00:01Z', user }
const review = { id: 42, body: '/grok fix', submitted_at: '2026-11-30T10:00:02Z', user }
const checkRun = { id: 43, external_id: 't_1', app: { id: 99 } }

const read = (event: string, payload: object) => readEvent({ event, body: Buffer.from(JSON.stringify({ ...common, ...payload })) })

const asked = {
  actor: user,
  repository: { id: 3, owner: 'octo', name: 'parser' },
  installationId: 5,
  author: user,
  locked: false,
  text: '/grok fix',
  reviewId: null,
}
const issue = { kind: 'issue', number: 12, title: 'A title', body: '/grok fix' }
const pull = { ...issue, kind: 'pull' }

describe('each event that is served leads to one target', () => {
  it.each<[string, string, object, object]>([
    [
      'a comment on an issue',
      'issue_comment',
      { action: 'created', comment, issue: thread },
      { subject: issue, source: { kind: 'comment', id: 41 }, createdAt: comment.created_at, reactTo: { commentId: 41 } },
    ],
    [
      'a comment on a pull request',
      'issue_comment',
      { action: 'created', comment, issue: { ...thread, pull_request: { url: 'u' } } },
      { subject: pull, source: { kind: 'comment', id: 41 }, createdAt: comment.created_at, reactTo: { commentId: 41 } },
    ],
    [
      'an issue',
      'issues',
      { action: 'opened', issue: thread },
      { subject: issue, source: { kind: 'issue', id: 40 }, createdAt: thread.created_at, reactTo: { issueNumber: 12 } },
    ],
    [
      'a pull request',
      'pull_request',
      { action: 'opened', pull_request: thread },
      { subject: pull, source: { kind: 'pull', id: 40 }, createdAt: thread.created_at, reactTo: { issueNumber: 12 } },
    ],
    [
      'a review',
      'pull_request_review',
      { action: 'submitted', review, pull_request: thread },
      { subject: pull, source: { kind: 'review', id: 42 }, reviewId: 42, createdAt: review.submitted_at, reactTo: null },
    ],
    [
      'the first comment of a thread in a review',
      'pull_request_review_comment',
      { action: 'created', comment: { ...comment, pull_request_review_id: 42 }, pull_request: thread },
      {
        subject: pull,
        source: { kind: 'review-comment', id: 41, threadId: 41 },
        reviewId: 42,
        createdAt: comment.created_at,
        reactTo: { reviewCommentId: 41 },
      },
    ],
    [
      'an answer in a thread',
      'pull_request_review_comment',
      { action: 'created', comment: { ...comment, pull_request_review_id: 42, in_reply_to_id: 30 }, pull_request: thread },
      {
        subject: pull,
        source: { kind: 'review-comment', id: 41, threadId: 30 },
        reviewId: 42,
        createdAt: comment.created_at,
        reactTo: { reviewCommentId: 41 },
      },
    ],
  ])('%s', (_, event, payload, target) => {
    expect(read(event, payload)).toEqual({ kind: 'asked', asked: { ...asked, ...target } })
  })
  it.each([
    ['rerequested', {}, 'retry'],
    ['requested_action', { requested_action: { identifier: 'fix' } }, 'fix'],
    ['requested_action', {}, ''],
  ])('a check run that was %s with %o', (action, more, identifier) => {
    const clicked = { actor: user, repository: asked.repository, installationId: 5, checkRunId: 43, appId: 99, taskId: 't_1', identifier }
    expect(read('check_run', { action, check_run: checkRun, ...more })).toEqual({ kind: 'clicked', clicked })
  })
  it.each([
    ['issues', { action: 'closed', issue: thread }, issue],
    ['pull_request', { action: 'closed', pull_request: thread }, pull],
  ])('%s that are closed', (event, payload, subject) => {
    expect(read(event, payload)).toMatchObject({ kind: 'closed', closed: { subject, actor: user } })
  })
})

describe('nothing is asked by', () => {
  it.each<[string, string, object, string]>([
    ['an event that is not served', 'push', {}, 'event push is not one of ours'],
    ['a property of every object', 'constructor', {}, 'event constructor is not one of ours'],
    ['a comment that was edited', 'issue_comment', { action: 'edited', comment, issue: thread }, 'payload: action'],
    ['a comment that was deleted', 'issue_comment', { action: 'deleted', comment, issue: thread }, 'payload: action'],
    [
      'a comment whose account is gone',
      'issue_comment',
      { action: 'created', comment: { ...comment, user: null }, issue: thread },
      'no author',
    ],
    [
      'somebody who stands beside the author',
      'issue_comment',
      { action: 'created', comment: { ...comment, user: { ...user, id: 8 } }, issue: thread },
      'sender and author differ',
    ],
    [
      'a review whose account is gone',
      'pull_request_review',
      { action: 'submitted', review: { ...review, user: null }, pull_request: thread },
      'no author',
    ],
    [
      'an issue that another person opened for its author',
      'issues',
      { action: 'opened', issue: { ...thread, user: { ...user, id: 8 } } },
      'differ',
    ],
    [
      'a check run that names nothing',
      'check_run',
      { action: 'rerequested', check_run: { ...checkRun, external_id: '' } },
      'no external id',
    ],
  ])('%s', (_, event, payload, reason) => {
    expect(read(event, payload)).toMatchObject({ kind: 'ignored', reason: expect.stringContaining(reason) })
  })
})

test('Q19: a body that is null is an empty one, of an issue, a comment and a review', () => {
  const texts = [
    read('issues', { action: 'opened', issue: { ...thread, body: null } }),
    read('issue_comment', { action: 'created', comment: { ...comment, body: null }, issue: { ...thread, body: null } }),
    read('pull_request_review', { action: 'submitted', review: { ...review, body: null, submitted_at: null }, pull_request: thread }),
  ].map(found => (found.kind === 'asked' ? found.asked.text : found))
  expect(texts).toEqual(['', '', ''])
})

test('Q22: the number is the one of the thread, whatever the text and other fields name', () => {
  const found = read('issue_comment', { action: 'created', comment: { ...comment, body: '/grok fix #99' }, issue: thread, number: 7 })
  expect(found).toMatchObject({ asked: { subject: { number: 12 }, text: '/grok fix #99' } })
})

test('JSON that is none, or so deep that reading it runs out of stack, is ignored as such', () => {
  const deep = `${'['.repeat(300_000)}${']'.repeat(300_000)}`
  for (const body of ['{', deep])
    expect(readEvent({ event: 'issues', body: Buffer.from(body) })).toMatchObject({ kind: 'ignored', why: 'malformed' })
})

test('every recorded payload of every event is read or ignored with a reason, and none breaks the reader', () => {
  const misread: string[] = []
  for (const { name, examples: payloads } of examples) {
    const actions: readonly string[] = isServedEvent(name) ? servedEvents[name] : []
    for (const payload of payloads) {
      const found = readEvent({ event: name, body: Buffer.from(JSON.stringify({ installation: { id: 5 }, ...payload })) })
      const fits = found.kind !== 'ignored' || !/^(?:payload|event)/.test(found.reason)
      if (fits !== actions.includes(payload.action ?? '')) misread.push(`${name}.${payload.action}: ${JSON.stringify(found)}`)
    }
  }
  expect(misread).toEqual([])
})
