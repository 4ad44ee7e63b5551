import { describe, expect, it } from 'vitest'
import { escapeLines, escapeShort, escapeText, toSafeJson } from '../../cli/escape.ts'
import { terminalOrders } from './scene.ts'

const hostile: [name: string, text: string, shown: string][] = [
  ['a colour', '\u001b[31mred', '\\u{1b}[31mred'],
  ['a window title', '\u001b]0;owned\u0007', '\\u{1b}]0;owned\\u{7}'],
  [
    'a link',
    '\u001b]8;;https://evil.example\u001b\\click\u001b]8;;\u001b\\',
    '\\u{1b}]8;;https://evil.example\\u{1b}\\click\\u{1b}]8;;\\u{1b}\\',
  ],
  ['a C1 control sequence introducer', '\u009b2J', '\\u{9b}2J'],
  ['a return to the start of the line', 'done\rfailed', 'done\\u{d}failed'],
  ['a backspace', 'rm\u0008\u0008ls', 'rm\\u{8}\\u{8}ls'],
  ['a new line in one line', 'a\nb', 'a\\u{a}b'],
  ['a right-to-left override', 'txt.\u202egnp', 'txt.\\u{202e}gnp'],
  ['an isolate', '\u2066x\u2069', '\\u{2066}x\\u{2069}'],
  ['a zero-width space', 'pass\u200bword', 'pass\\u{200b}word'],
  ['a line separator', 'a\u2028b', 'a\\u{2028}b'],
  ['a tag character beyond the first plane', 'a\u{e0041}', 'a\\u{e0041}'],
  ['half a surrogate pair', 'a\ud800b', 'a\\u{d800}b'],
  ['a blank letter', '\u3164', '\\u{3164}'],
  ['NUL', 'a\u0000b', 'a\\u{0}b'],
]

describe('the escape function', () => {
  it.each(hostile)('shows %s', (_, text, shown) => {
    expect(escapeText(text)).toBe(shown)
    expect(escapeText(text)).not.toMatch(terminalOrders)
  })
  it('leaves text of every script and emoji as they are', () => {
    const text = 'für 変数 العربية 👍 é \\u{1b} <b>&amp;</b>'
    expect(escapeText(text)).toBe(text)
  })
  it('changes nothing when it is called again', () => {
    for (const [, text] of hostile) expect(escapeText(escapeText(text))).toBe(escapeText(text))
  })
  it('keeps lines where lines are wanted, whatever their ends', () => {
    expect(escapeLines('a\r\nb\nc\u001b[2J\rd')).toBe('a\nb\nc\\u{1b}[2J\\u{d}d')
  })
  it('cuts to one line and marks the cut', () => {
    expect(escapeShort('  a\n\tb  cdef', 6)).toBe('a b c…')
    expect(escapeShort('short', 6)).toBe('short')
  })
})

describe('JSON that is looked at', () => {
  it.each(hostile)('holds %s without an order to the terminal, and reads back the same', (_, text) => {
    const json = toSafeJson({ [text]: [text] })
    expect(json).not.toMatch(terminalOrders)
    expect(JSON.parse(json)).toEqual({ [text]: [text] })
  })
  it('would give orders without it', () => {
    expect(JSON.stringify('\u009b2J\u202e')).toMatch(terminalOrders)
  })
})
