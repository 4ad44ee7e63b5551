import { describe, expect, test } from 'vitest'
import { clipSubject } from '../../domain/index.ts'

describe('what a task keeps of an issue', () => {
  const rows: [name: string, title: string, body: string, bytesMax: number, kept: { title: string; body: string }][] = [
    ['all of a short one', 'a title', 'a body', 13, { title: 'a title', body: 'a body' }],
    ['the first bytes of a long one, with a mark', 'ab', 'cdefgh', 5, { title: 'ab', body: 'cde\n\n[cut: 3 of 6 bytes were kept]' }],
    ['no half of a character', 'ab', 'ééé', 5, { title: 'ab', body: 'é\n\n[cut: 2 of 6 bytes were kept]' }],
    ['a title alone when there is room for no more', 'abcdef', 'gh', 4, { title: 'abcd', body: '\n\n[cut: 0 of 2 bytes were kept]' }],
  ]
  test.each(rows)('%s', (_, title, body, bytesMax, kept) => {
    expect(clipSubject({ number: 7, title, body }, bytesMax)).toEqual({ number: 7, ...kept })
  })
})
