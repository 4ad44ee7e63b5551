import { describe, expect, test } from 'vitest'
import { type SuggestedFile, suggestionsFor } from '../../domain/index.ts'

type Hunk = SuggestedFile['pull'][number]
const lines = (...all: string[]) => `${all.join('\n')}\n`
/** A pull request that adds these lines of the head, counted from 1. */
const adds = (head: string, from: number, to: number): Hunk => {
  const added = head.split('\n').slice(from - 1, to)
  return { oldStart: from - 1, oldCount: 0, newStart: from, newCount: added.length, lines: added.map(line => `+${line}`) }
}
const hunk = (oldStart: number, removed: string[], added: string[]): Hunk => ({
  ...{ oldStart, oldCount: removed.length, newStart: oldStart, newCount: added.length },
  lines: [...removed.map(line => `-${line}`), ...added.map(line => `+${line}`)],
})
const head = lines('a', 'b', 'c', 'd', 'e')
/** The pull request brought `b`, `c` and `d`. */
const pull = [adds(head, 2, 4)]
const of = (wanted: string, change: Hunk[], more: Partial<SuggestedFile> = {}) =>
  suggestionsFor({ path: 'x', head, wanted, pull, change, ...more })

describe('becomes suggestions', () => {
  test.each<[string, string, Hunk[], object[]]>([
    ['one line', lines('a', 'B', 'c', 'd', 'e'), [hunk(2, ['b'], ['B'])], [{ path: 'x', startLine: 2, endLine: 2, text: ['B'] }]],
    [
      'lines that become more',
      lines('a', 'B', 'C', 'x', 'd', 'e'),
      [hunk(2, ['b', 'c'], ['B', 'C', 'x'])],
      [{ path: 'x', startLine: 2, endLine: 3, text: ['B', 'C', 'x'] }],
    ],
    ['lines that go', lines('a', 'b', 'd', 'e'), [hunk(3, ['c'], [])], [{ path: 'x', startLine: 3, endLine: 3, text: [] }]],
    [
      'new lines behind one of its own',
      lines('a', 'b', 'c', 'd', 'x', 'e'),
      [hunk(4, [], ['x'])],
      [{ path: 'x', startLine: 4, endLine: 4, text: ['d', 'x'] }],
    ],
    [
      'new lines before one of its own',
      lines('a', 'x', 'b', 'c', 'd', 'e'),
      [hunk(1, [], ['x'])],
      [{ path: 'x', startLine: 2, endLine: 2, text: ['x', 'b'] }],
    ],
    [
      'two places',
      lines('a', 'B', 'c', 'D', 'e'),
      [hunk(2, ['b'], ['B']), hunk(4, ['d'], ['D'])],
      [
        { path: 'x', startLine: 2, endLine: 2, text: ['B'] },
        { path: 'x', startLine: 4, endLine: 4, text: ['D'] },
      ],
    ],
  ])('%s', (_, wanted, change, expected) => expect(of(wanted, change)).toEqual(expected))
})

describe('is none', () => {
  const long = Array.from({ length: 21 }, (_, index) => `line ${index}`)
  test.each<[string, string, Hunk[], Partial<SuggestedFile>]>([
    ['D12: where a line the pull request did not bring would go', lines('b', 'c', 'd', 'e'), [hunk(1, ['a'], [])], {}],
    ['D12: where a wide range reaches over its own lines', lines('X', 'e'), [hunk(1, ['a', 'b', 'c', 'd'], ['X'])], {}],
    ['where new lines have none of its own beside them', lines('x', 'a', 'b', 'c', 'd', 'e'), [hunk(0, [], ['x'])], {}],
    ['where it would give other bytes than were checked', lines('a', 'B', 'c', 'd', 'E'), [hunk(2, ['b'], ['B'])], {}],
    [
      'where two of them would stand on one line',
      lines('a', 'b', 'x', 'c', 'y', 'd', 'e'),
      [hunk(2, [], ['x']), hunk(3, [], ['y'])],
      { pull: [adds(head, 3, 3)] },
    ],
    ['where it is long', lines('a', ...long, 'c', 'd', 'e'), [hunk(2, ['b'], long)], {}],
    ['where another bot would take a line for an order', lines('a', '  /lgtm', 'c', 'd', 'e'), [hunk(2, ['b'], ['  /lgtm'])], {}],
    [
      'with CRLF, which a comment does not keep',
      'a\r\nB\r\n',
      [hunk(2, ['b\r'], ['B\r'])],
      { head: 'a\r\nb\r\n', pull: [adds('a\r\nb\r\n', 2, 2)] },
    ],
    ['without a last line end', 'a\nB', [hunk(2, ['b'], ['B'])], { head: 'a\nb', pull: [adds('a\nb', 2, 2)] }],
    ['with a control character', lines('a', 'B\u001b[2J', 'c', 'd', 'e'), [hunk(2, ['b'], ['B\u001b[2J'])], {}],
  ])('%s', (_, wanted, change, more) => expect(of(wanted, change, more)).toBe(null))

  test('and where each is shown to be a suggestion as soon as its one fault is away', () => {
    expect(of(lines('a', 'lgtm', 'c', 'd', 'e'), [hunk(2, ['b'], ['lgtm'])])).not.toBe(null)
    expect(of(lines('a', ...long.slice(1), 'c', 'd', 'e'), [hunk(2, ['b'], long.slice(1))])).not.toBe(null)
  })
})
