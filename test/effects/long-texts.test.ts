import { describe, expect, test } from 'vitest'
import { maskCode } from '../../effects/certain-code.ts'
import { effectsLimits } from '../../effects/limits.ts'
import * as live from '../../effects/live-text.ts'
import { stripMarkers } from '../../effects/marker.ts'
import { makeInert, makeInertForCommit } from '../../effects/outgoing-filter.ts'

/** Beginnings of everything the patterns look for, which never end: said again and again, each is tried from every place. */
const pieces = [
  ...[
    '[](',
    '[a](<',
    '[](a ',
    '![](',
    '![][',
    '[',
    '](',
    '[x]:',
    '\n[x',
    '\n> [',
    '@',
    '@a/',
    'a@',
    'a@a.',
    'a@a.-',
    '&#0',
    '&a',
    '&commat',
  ],
  ...[
    'fix ',
    'fix [](',
    'fix [](/1',
    'fix [](/1)[',
    'fix #',
    'fixes a/',
    'fix:https://',
    'fix https://a/issues/',
    'closes: "(',
    'GH-1',
    'resolve_',
    'fix&lt;',
  ],
  ...[
    'www.',
    'www.,',
    'https://',
    'https://.',
    ' https://a.b',
    '(https://a.b/',
    'mailto:',
    '/',
    '\n/a',
    '<',
    '<!',
    '<!--',
    '<!--grokbot:v1',
    'grokbot:v1',
  ],
  ...[
    '-',
    '|-',
    '>',
    ' ',
    '\t',
    '\n',
    '\n ',
    '`',
    '` ',
    '``` ',
    '\n```',
    '\n~~~',
    '\\`',
    '*',
    '_',
    '.',
    ':',
    'a',
    '0',
    '\ufdd0',
    '\ufdd00',
    '\r',
    '\u2028',
    '&lt;',
    '$',
    '[^',
    '[^1',
    '][',
    '](',
    '](a',
    '](a(b)',
    '](a "b',
    '<.',
    '://',
    'mermaid',
  ],
]
const textsOf = (characters: number, start: string, ends: readonly string[]) =>
  pieces.flatMap(piece => {
    const long = `${start}${piece.repeat(Math.ceil(characters / piece.length))}`
    return ends.map(end => ({ name: JSON.stringify([start, piece, end]), text: `${long}${end}` }))
  })

/** Those that take longer, by name. What is quadratic takes from ten times as long to minutes. */
function slow([characters, start, ends]: Parameters<typeof textsOf>, mostMs: number, read: (text: string) => unknown): string[] {
  return textsOf(characters, start, ends).flatMap(({ name, text }) => {
    const startedAt = performance.now()
    read(text)
    const ms = Math.round(performance.now() - startedAt)
    return ms < mostMs ? [] : [`${name}: ${ms} ms`]
  })
}

const patterns = Object.entries(live).flatMap(([name, value]) => (value instanceof RegExp ? [{ name, pattern: value }] : []))

describe('a text made to be slow is read in time', { timeout: 60_000 }, () => {
  test('every pattern is among them', () => expect(patterns.length).toBeGreaterThanOrEqual(9))
  test.each(patterns)('by the pattern $name', ({ pattern }) => {
    expect(slow([32_768, 'fix ', ['', 'x']], 600, text => text.replace(pattern, ''))).toEqual([])
  })
  test('for its code', () => expect(slow([32_768, '`a` $ `a` ', ['', 'x']], 600, maskCode)).toEqual([]))
  test('by all of the filter', () => {
    const characters = effectsLimits.filteredCharactersMax
    expect(slow([characters, '', ['x']], 3_000, text => [makeInert(text, 'shown'), makeInertForCommit(text)])).toEqual([])
  })
  test('for markers, though it is as long as an answer may be', () => expect(slow([4_194_304, '', ['>']], 1_000, stripMarkers)).toEqual([]))
})

test.each(['shown', 'kept'] as const)(
  'of a text that is longer than a body the beginning is made inert and the end is said (links %s)',
  links => {
    const text = makeInert(`@maria ${'a'.repeat(70_000)} @octocat`, links)
    expect(text).toBe(`\`@maria\` ${'a'.repeat(65_536 - 7)}\n\nCut at 65,536 characters; the rest is in the run's record.`)
  },
)

test('a marker that comes together where others were taken out is broken up, however often', { timeout: 10_000 }, () => {
  expect(stripMarkers('<<!--grokbot:v1-->!--grokbot:v1-->')).toBe('<!--grokbot: v1-->')
  const often = stripMarkers(`${'<'.repeat(100_000)}${'!--grokbot:v1-->'.repeat(100_000)}`)
  expect([/grokbot:v\d/.test(often), often.length > 100_000]).toEqual([false, true])
})
