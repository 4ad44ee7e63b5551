import { expect, test } from 'vitest'
import { emptyTaskState, type TaskState } from '../../domain/task-state.ts'
import { readAnswerParts } from '../../worker/answer-parts.ts'
import { renderPullRequest, renderTitle } from '../../worker/render-pull-request.ts'

const none = { title: '', why: '', lookFirst: '', notTested: '', rest: '' }

test.each([
  ['', none],
  ['Fix it', { ...none, title: 'Fix it' }],
  ['## **Fix it.**\n\nMore.', { ...none, title: 'Fix it', rest: 'More.' }],
  [
    'Fix it\n\nWhy: one\ntwo\nLook first at: `a.ts` 1-2\nNot tested: Windows\n\nRan `npm test`.',
    { title: 'Fix it', why: 'one two', lookFirst: '`a.ts` 1-2', notTested: 'Windows', rest: 'Ran `npm test`.' },
  ],
  ['Fix it\n- **Why it crashed**: no token', { ...none, title: 'Fix it', why: 'no token' }],
  // The second one of a kind is not lost.
  ['Fix it\nWhy: one\nWhy: two', { ...none, title: 'Fix it', why: 'one Why: two' }],
  ['Fix it\nWhy: one\n\nWhy: two', { ...none, title: 'Fix it', why: 'one', rest: 'Why: two' }],
  // Code is no label, and keeps its empty lines.
  ['Fix it\n```\nWhy: x\n\n\ny\n```', { ...none, title: 'Fix it', rest: '```\nWhy: x\n\n\ny\n```' }],
  [`Fix it\nWhy: ${'x'.repeat(700)}\n\nMore.`, { ...none, title: 'Fix it', rest: `More.\n\nWhy: ${'x'.repeat(700)}` }],
  // A first line that is cut as a title is kept whole.
  [`${'a'.repeat(80)}\nmore`, { ...none, title: 'a'.repeat(80), rest: `${'a'.repeat(80)}\nmore` }],
])('the parts of %j', (text, expected) => {
  expect(readAnswerParts(text)).toEqual(expected)
})

test('what a label holds is as inert in the body as everything else of a model', () => {
  const answer =
    'Fix it\n\nWhy: ~~~ @maria fixes #7 ![x](https://example.org/x.png)\nLook first at: <!-- grokbot:v1 --> @maria\nNot tested: /grok fix'
  const body = renderPullRequest(saying(answer), '/grok', 58_000, null)
  expect(body).toContain('**Why**: ~~~ ')
  expect(body).toContain('**Look first at**: ')
  expect(body).toContain('**Not tested**: ')
  expect(body.replace(/`[^`\n]*`/g, '')).not.toMatch(/@maria|fixes #7|!\[|<!--/)
})

test.each([
  ['~~~', 'More'],
  ['~~~ math', 'math'],
  ['[^1]: foo', '1]: foo'],
  ['[a]: http://example.org/x', 'a]: http://example.org/x'],
  ['| a | b |', 'a | b |'],
  ['1. foo', 'foo'],
  ['+ 2) = foo', 'foo'],
  ['$$', 'More'],
  ['=====', 'More'],
  ['&#126;~~ x', '126;~~ x'],
  ['"Quoted" (works)', '"Quoted" (works)'],
  ['Ölstand prüfen', 'Ölstand prüfen'],
])('a first line that Markdown could begin something with begins nothing in the body: %s', (line, title) => {
  const body = renderPullRequest(saying(`${line}\n\nMore.`), '/grok', 58_000, null)
  const result = body.split('\n\n').find(block => block.endsWith('Closes #12')) ?? ''
  expect(result.replace('http: //', 'http://')).toBe(`${title}. Closes #12`)
  const subject = { kind: 'issue' as const, number: 1, title: line, body: '' }
  expect(renderTitle('***\n', subject)).toBe(title === 'More' ? 'Change' : title)
})

test('a footnote stays where it was written', () => {
  const body = renderPullRequest(saying('Fix it\n\nsee[^1]\n\n[^1]: | check | base |\n    |---|---|'), '/grok', 58_000, null)
  expect(body).not.toContain('[^')
  expect(body).toContain('> see[ ^1]')
})

test('an answer of one long line holds nobody', () => {
  const startedAt = performance.now()
  readAnswerParts(`${'.'.repeat(4_000_000)}\n${'why '.repeat(1_000_000)}:`)
  expect(performance.now() - startedAt).toBeLessThan(2_000)
})

function saying(text: string): TaskState {
  const state = emptyTaskState()
  const session = { started: null, turns: [], openRequest: null, failures: [], ended: { reason: 'answer', text, turns: 1 } }
  const accepted = {
    requester: { login: 'mona' },
    subject: { kind: 'issue', number: 12, title: 'Change', body: '' },
    base: { sha: 'a'.repeat(40) },
  }
  return { ...state, session, accepted } as unknown as TaskState
}
