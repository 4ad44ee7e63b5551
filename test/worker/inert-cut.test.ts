import { expect, test } from 'vitest'
import { emptyTaskState } from '../../domain/task-state.ts'
import { renderEnded } from '../../worker/render-ended.ts'
import { renderRunning } from '../../worker/render-progress.ts'
import { renderTitle } from '../../worker/render-pull-request.ts'

/** Outside of code: a name that is called. */
const called = (text: string) => text.replace(/`[^`\n]*`/g, '').match(/@\w+/g) ?? []

/** Of every length around each limit, so that the limit falls into the name, too. */
const ahead = (limit: number) => Array.from({ length: 14 }, (_, index) => 'a'.repeat(limit - 12 + index))

test('a cut never goes through what was put in to make a name inert', () => {
  const state = emptyTaskState()
  const view = { taskId: 't_1', state, now: 0, links: null, prefix: '/grok', bodyCharactersMax: 58_000 }
  const texts = [
    ...ahead(120).map(start =>
      renderRunning({ state, now: 0, doing: `${start} @maria, @maria`, next: '', prefix: '/grok', updateGapMs: 1_000, links: null }),
    ),
    ...ahead(1_000).map(start => renderEnded({ ...view, end: { outcome: 'failed', reason: `${start} @maria, @maria`, summary: '' } })),
    ...ahead(72).map(start => renderTitle(`${start} @maria, @maria`, null)),
  ]
  expect(texts.filter(text => called(text).length > 0)).toEqual([])
  expect(called(`\`@mari`)).toEqual(['@mari'])
})

test('a title is whole text: no NUL, no turned direction, no half of a character', () => {
  expect(renderTitle('fix\u202eabc\u0000nul', null)).toBe('fix abc nul')
  for (let start = 60; start < 75; start++) expect(renderTitle(`${'a'.repeat(start)}😀b c😀`, null).isWellFormed()).toBe(true)
})

test("a title closes nothing and calls nobody, also out of a stranger's code, and keeps to its length", () => {
  const subject = (title: string) => ({ kind: 'issue' as const, number: 1, title, body: '' })
  const titles = ['`fixes #12`', `${'fixes #1 @maria '.repeat(9)}`, 'fixes `#12` and @maria'].map(title => renderTitle('', subject(title)))
  expect(titles.filter(title => title.length > 72 || /fix\w* `?#\d/.test(title))).toEqual([])
  expect(titles[0]).toBe('fixes # 12')
})
