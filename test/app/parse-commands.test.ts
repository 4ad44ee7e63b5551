import { describe, expect, test } from 'vitest'
import { parseCommands } from '../../app/parse-commands.ts'

const options = { prefix: '/grok', slug: 'grokbot', commandsMax: 3, textBytesMax: 100 }
const words = (comment: string) =>
  parseCommands(comment, options).commands.map(({ word, text }) => (text === '' ? word : `${word}: ${text}`))

describe('Q11, Q18: a command is found', () => {
  test.each([
    ['with a carriage return behind it', '/grok fix\r\nPlease fix the null check', ['fix: Please fix the null check']],
    ['with a lone carriage return', '/grok fix\rnow', ['fix: now']],
    ['with a Unicode line separator', '/grok fix\u2028now', ['fix: now']],
    ['with a tab', '/grok\tfix', ['fix']],
    ['with a no-break space', '/grok\u00a0fix now', ['fix: now']],
    ['in any case, with blanks behind it', '/Grok Fix  ', ['Fix']],
    ['with a trailing comma', '/grok fix ,', ['fix']],
    ['after a line of prose', 'hello\n/grok fix', ['fix']],
    ['above the signature of a mail', '/grok fix the sum\n-- \nMona\n/grok help', ['fix: the sum']],
    [
      'below a patch, whose last lines look like a signature',
      '/grok fix a\n\n```diff\n+x\n-- \n2.40\n```\n\n/grok help',
      [expect.stringMatching(/^fix: a\n[\s\S]*2\.40/), 'help'],
    ],
    ['below HTML that is closed', '<details>\n\nlog\n\n</details>\n\n<br>\n\n/grok fix', ['fix']],
    ['behind a picture', 'see <img src="a.png">\n\n/grok fix', ['fix']],
    ['after emphasis on the line before', '**b**\n/grok fix', ['fix']],
    ['as the alias', '@grokbot fix it', ['fix: it']],
    ['without a verb, which asks for help', '/grok', ['help']],
    ['twice, once for each', '/grok fix a\n\n/grok help', ['fix: a', 'help']],
    ['twice alike, once', '/grok fix a\n/grok fix a', ['fix: a']],
  ])('%s', (_, comment, expected) => {
    expect(words(comment)).toEqual(expected)
  })
})

describe('Q12: a command is inert', () => {
  test.each([
    ['in a quote', '> /grok fix'],
    ['in the lazy rest of a quote', '> hello\n/grok fix'],
    ['in a fence', '```\n/grok fix\n```'],
    ['in a tilde fence', '~~~\n/grok fix\n~~~'],
    ['in a longer fence that holds a shorter one', '````\n```\n/grok fix\n```\n````'],
    ['in a fence that is never closed', '```\n/grok fix'],
    ['in an indented block', '    /grok fix'],
    ['in a code span', '`/grok fix`'],
    ['in a code span that runs over lines', '`open\n/grok fix\nclose`'],
    ['in an HTML comment', '<!-- /grok fix -->'],
    ['in an HTML comment over lines', '<!--\n/grok fix\n-->'],
    ['in details', '<details>\n\n/grok fix\n\n</details>'],
    ['in a list item', '- /grok fix'],
    ['in a nested list item', '- item\n    /grok fix'],
    ['in a quote of HTML', '<blockquote>\n\n/grok fix\n\n</blockquote>'],
    ['in details that are opened in a line', 'see <details>\n\n/grok fix\n\n</details>'],
    ['in preformatted text of HTML', '<div><pre>\n\n/grok fix\n\n</pre></div>'],
    ['in a table of HTML', '<table><tr><td>\n\n/grok fix\n\n</td></tr></table>'],
    ['in an element that is never closed', '<sub>\n\n/grok fix'],
    ['in a formula', '$$\n/grok fix\n$$'],
    ['in a heading', '# /grok fix'],
    ['in a table', '| a |\n|---|\n| /grok fix |'],
    ['in a link text', 'a [x\n/grok fix](http://example.org)'],
    ['inside a line', 'please /grok fix'],
    ['with more letters', '/grokfix'],
    ['as another path', '/grok/fix'],
  ])('%s', (_, comment) => {
    expect(words(comment)).toEqual([])
  })
})

test('more commands than allowed are dropped and counted', () => {
  const comment = ['fix a', 'fix b', 'fix c', 'fix d', 'help'].map(line => `/grok ${line}`).join('\n')
  expect(parseCommands(comment, options)).toEqual({
    commands: [
      { index: 0, word: 'fix', text: 'a' },
      { index: 1, word: 'fix', text: 'b' },
      { index: 2, word: 'fix', text: 'c' },
    ],
    dropped: 2,
  })
})

test('a long text is cut at a whole character', () => {
  const [command] = parseCommands(`/grok fix ${'é'.repeat(80)}`, options).commands
  expect(Buffer.byteLength(command?.text ?? '')).toBeLessThanOrEqual(100)
  expect(command?.text).toMatch(/^é+$/)
})

test('a comment of a megabyte of prefixes is parsed within bounds', () => {
  const { commands } = parseCommands('/grok fix\n'.repeat(100_000), options)
  expect(commands.length).toBeLessThanOrEqual(3)
})

test.each([
  ['lines that hold nothing but a form feed', `/grok help\nx\n${'\f\n'.repeat(32_700)}`],
  ['an element without an end', `/grok help\n\n<div>\n<${'a-'.repeat(15_000)} ${'/'.repeat(30_000)}`],
  ['many of them', `/grok help\n\n<div>\n${'<a b'.repeat(16_000)}`],
  ['a comment without an end', `/grok help\n\n<!-- ${'<!-- '.repeat(13_000)}`],
])('what is as long as GitHub allows is read in a moment, also %s', (_, comment) => {
  const startedAt = performance.now()
  expect(words(comment)[0]).toMatch(/^help/)
  // A twentieth of what it took when a part could be read again for each of its characters.
  expect(performance.now() - startedAt).toBeLessThan(600)
})
