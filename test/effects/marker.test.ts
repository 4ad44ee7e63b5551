import { describe, expect, test } from 'vitest'
import { readMarker, renderMarker, stripMarkers } from '../../effects/marker.ts'

const key = Buffer.alloc(32, 7)
const marker = { kind: 'progress', task: 't_01', key: 'progress-1' }
const place = 'octo/parser#1'

test('a marker is found where it was written', () => {
  expect(readMarker(key, `${renderMarker(key, marker, place)}\n**grok fix**`, place)).toEqual(marker)
})

describe('a marker is not ours', () => {
  const line = renderMarker(key, marker, place)
  test.each([
    ['copied to another issue', line, 'octo/parser#2'],
    ['made with another key', renderMarker(Buffer.alloc(32, 8), marker, place), place],
    ['with another task', line.replace('t_01', 't_02'), place],
    ['with another kind', line.replace('kind=progress', 'kind=comment'), place],
    ['not on the first line', `hello\n${line}`, place],
    ['with a MAC of another length', line.replace(/mac=\w+/, 'mac=00'), place],
  ])('%s', (_, body, at) => {
    expect(readMarker(key, body, at)).toBe(null)
  })
})

test.each([
  ['a marker', `a ${renderMarker(key, marker, place)} b`, 'a  b'],
  ['one that is never closed', 'a <!-- grokbot:v1 kind=pr', 'a '],
  ['one inside another, so that nothing opens a comment', '<!-- grok<!-- grokbot:v1 x -->bot:v1 y -->', 'bot:v1 y -->'],
  ['one of a later version', '<!-- GROKBOT:v22 -->', ''],
])('%s is stripped from foreign text', (_, text, expected) => {
  expect(stripMarkers(text)).toBe(expected)
})
