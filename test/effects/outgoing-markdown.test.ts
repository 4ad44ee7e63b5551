import MarkdownIt, { type Token } from 'markdown-it'
import { describe, expect, test } from 'vitest'
import { makeInert, makeInertForCommit } from '../../effects/outgoing-filter.ts'

/**
 * Reads what GitHub's parser reads before it looks for code, and so swallows a backtick: an address up to the next blank, the
 * label of a footnote, a formula.
 */
function readAsGitHub(md: ReturnType<typeof MarkdownIt>): void {
  const rules: [name: string, before: RegExp, rest: RegExp][] = [
    ['address', /(?:https?|ftp)$/i, /:\/\/[^ \t\n\v\f\r<]+/y],
    ['footnote', /$/, /\[\^[^\]\s]+\]/y],
    ['formula', /$/, /\$[^$]+\$/y],
  ]
  for (const [name, before, rest] of rules) {
    md.inline.ruler.before('escape', name, (state, silent) => {
      rest.lastIndex = state.pos
      const found = before.test(state.pending) ? rest.exec(state.src)?.[0] : undefined
      if (found === undefined) return false
      if (!silent) {
        state.pending = state.pending.replace(before, '')
        state.push(name, '', 0)
      }
      state.pos += found.length
      return true
    })
  }
}

const readers = { commonmark: new MarkdownIt({ html: true }), github: new MarkdownIt({ html: true }).use(readAsGitHub) }

/** What GitHub's renderer would make of a text, by other parsers than the filter's own: everything in it that acts. */
function actsIn(text: string, links: 'kept' | 'shown'): string[] {
  return Object.values(readers).flatMap(reader => actsAsRead(reader.parse(text, {}), links))
}

function actsAsRead(tokens: readonly Token[], links: 'kept' | 'shown'): string[] {
  const raw = tokens.filter(token => token.type === 'html_block').map(token => `html ${token.content}`)
  return [...raw, ...tokens.flatMap(token => (token.children === null ? [] : actsInLine(token.children, links)))]
}

function actsInLine(children: readonly Token[], links: 'kept' | 'shown'): string[] {
  const nodes = children.filter(token => token.type === 'text').map(token => token.content)
  const whole = children.map(token => (token.type === 'text' ? token.content : token.type.endsWith('break') ? '\n' : '')).join('')
  const ofKind = (kind: string) => children.filter(token => token.type === kind).map(token => `${kind} ${token.content}`)
  const called = nodes.flatMap(find(mention))
  const opened = links === 'shown' ? [...ofKind('link_open'), ...nodes.flatMap(find(autolink))] : []
  return [...ofKind('html_inline'), ...ofKind('image'), ...called, ...find(closing)(whole), ...opened]
}

const find = (pattern: RegExp) => (text: string) => [...text.matchAll(pattern)].map(([found]) => found)
const mention = /(?<!\w)@[a-z0-9][a-z0-9-]*/gi
const closing =
  /\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+(?:(?:[\w.-]+\/[\w.-]+)?#\d+|GH-\d+|https?:\/\/\S+\/(?:issues|pull)\/\d+)/gi
const autolink = /(?:https?:\/\/|www\.)[^\s<]+/gi

const live = '@maria fixes #1 [x](https://evil.example)'
const hostile: readonly (readonly [string, string])[] = [
  ['a backslash before a backtick', `\\\`${live}\\\``],
  ['a backtick in the words behind a fence', `\`\`\` \`\n${live}\n\`\`\``],
  ['a backslash before a name', '\\@maria'],
  ['a backtick before a name', '`@maria'],
  ['a run that is never closed', `\`\`${live}\``],
  ['a run closed in the next paragraph', `\`a\n\n${live} \``],
  ['runs of different lengths', `\` \`\` ${live} \`\`\` x`],
  ['a longer fence in a shorter one', `\`\`\`\n\`\`\`\`\n${live}\n\`\`\``],
  ['a shorter fence in a longer one', `\`\`\`\`\n\`\`\`\n\`\`\`\`\n${live}\n\`\`\``],
  ['tildes closed by backticks', `~~~\na\n\`\`\`\n${live}\n~~~\n${live}`],
  ['tildes that are indented code', `    ~~~\n${live}\n    ~~~`],
  ['tildes that go on with a paragraph', `a\n    ~~~\n    ${live}\n    ~~~`],
  ['indented code', `a\n\n    b\n${live}`],
  ['an HTML block', `<pre>\n\`\`\`\n</pre>\n${live}\n\`\`\``],
  ['a comment', `<!--\n\`\`\`\n-->\n${live}\n\`\`\``],
  ['a quoted fence that its quote ends', `> \`\`\`\n${live}\n> \`\`\``],
  ['a fence in a list that the list ends', `- a\n  ~~~\n${live}\n  ~~~`],
  ['a fence in a list that closes further in', `-  a\n   ~~~\n    ~~~\n   ${live}\n   ~~~`],
  ['a fence on the line of a list', `- ~~~\n${live}\n~~~`],
  ['a fence closed by a tab', `~~~\na\n\t~~~\n~~~\n${live}\n~~~`],
  ['a line that ends in a carriage return', `~~~\ra\r~~~\r${live}\r~~~`],
  ['a table that cuts a span', `a | b\n--- | ---\n\`a | ${live}\``],
  ['an escaped bar in a table', `|a|\n|-|\n| \`a \\| @maria\` |\n| \`b |\n| @maria\` |`],
  ['an address in angles that swallows a backtick', `<https://a.example/\`> ${live} \``],
  ['an attribute that swallows a backtick', `<a title="\`">${live}\``],
  ['a name as an entity', '&#64;maria &commat;maria &#x40;maria'],
  ['a number sign as an entity', 'fixes &#35;1 fixes &num;1'],
  ['a letter of a keyword as an entity', 'fi&#120;es #1'],
  ['a colon as an entity', 'fixes https&colon;//github.com/o/r/issues/1'],
  ['a link by reference', '[x][1] [x] ![y][1]\n\n[1]: https://evil.example\n[x]: https://evil.example'],
  ['a definition over two lines', '[x\ny]: https://evil.example\n\n[x y]'],
  ['a definition in a quote', '> [x]: https://evil.example\n\n[x]'],
  ['an address in angles', '<https://evil.example> <mailto:a@evil.example> <me@evil.example>'],
  ['a bare address', 'https://evil.example/(a) www.evil.example'],
  ['a link in a link text', '[a [b] c](https://evil.example)'],
  ['an image in a link', '[![a](https://evil.example/a.png)](https://evil.example)'],
  ['an image with brackets in its words', '![a[b]](https://evil.example/a.png)'],
  ['an image that leaves a link behind', '![a](b)(https://evil.example)'],
  ['other references', 'fixes GH-1, closes owner/repo#1, resolved https://github.com/o/r/issues/1, fix: https://github.com/o/r/pull/2'],
  ['a reference behind emphasis', 'fixes **#1**, fi**xes** #1, fixes *GH-1*, fixes \\#1'],
  ['a reference on the next line', 'fixes\n#1'],
  ['a name behind emphasis', '_a_@maria **a**@maria a~~b~~@maria'],
  ['a name behind code', '`a`@maria'],
  ['a keyword far from its reference', `closes${' '.repeat(25)}#1 closes${'\u00a0'.repeat(25)}#1 closes${' \n'.repeat(25)}#1`],
  ['a definition deep in quotes', `[click][r]\n\n${'> '.repeat(25)}[r]: //evil.example`],
  ['a definition deep in lists', `[click][r]\n\n${'- '.repeat(22)}[r]: //evil.example`],
  ['a line that looks blank in a list', `- a\n  \`\`\`\n\u00a0\n  ${live}\n  \`\`\``],
  ...['\u00a0', '\f', '\v', '\u2003', '\u2028'].map(
    blank =>
      [
        `a fence with U+${blank.charCodeAt(0).toString(16)} behind its end`,
        `\`\`\`\nx\n\`\`\`${blank}\n\`\`\`\n${live} ![i](u)\n\`\`\``,
      ] as const,
  ),
  ['an address that swallows a backtick', `https://a.example/\`x ${live} ![i](u)\` y`],
  ['an address of two words, as most see it', `https://a.example/\u00a0\`x ${live}\` y`],
  ['a destination that swallows a backtick', `[a](b\`c) ${live} \`d`],
  ['a title that does', `[a](http://x "\`") ${live} \` `],
  ['a title on the next line that does', `[a](b "t\n\`" ) ${live} \``],
  ['a footnote that does', `[^\`]: ${live} \`\n\n[^\`] \``],
  ['an e-mail in angles that does', `<.\`b@c.example> ${live} \`e`],
  ['a formula that does', `$a\`b$ ${live} \`c`],
  ['a name behind a slash', 'a/@maria https://@maria (https://a.example/)@maria'],
]

describe('nothing acts outside of code, as another parser reads it', () => {
  test.each(hostile)('%s', (_, text) => {
    expect(actsIn(makeInert(text, 'shown'), 'shown'), makeInert(text, 'shown')).toEqual([])
    expect(actsIn(makeInert(text), 'kept'), makeInert(text)).toEqual([])
  })

  test('red: each of them acts as it is', () => {
    expect(hostile.filter(([, text]) => actsIn(text.replace(/\r/g, '\n'), 'shown').length === 0).map(([name]) => name)).toEqual([])
  })

  test('nor in three thousand texts put together by a generator from pieces that parsers disagree about', () => {
    const acting: string[] = []
    let state = 42
    const next = (below: number) => {
      state = (state + 0x6d2b79f5) | 0
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
      return ((mixed ^ (mixed >>> 14)) >>> 0) % below
    }
    for (let run = 0; run < 3_000; run++) {
      const parts = Array.from({ length: 2 + next(12) }, () => pieces[next(pieces.length)])
      // What acts stands between two backticks in every other text, so that it counts which of them something else takes.
      if (run % 2 === 0) parts.splice(next(parts.length), 0, '`', pieces[next(pieces.length)], ' @maria fixes #1 `')
      const text = parts.join('')
      for (const links of ['shown', 'kept'] as const) if (actsIn(makeInert(text, links), links).length > 0) acting.push(text)
    }
    expect(acting).toEqual([])
  })
})

const pieces = [
  ...[
    '`',
    '`',
    '``',
    '```',
    '~~~',
    '````',
    '\\',
    '\\`',
    '\n',
    '\n',
    '\n\n',
    '\n    ',
    '\n  ',
    '\n- ',
    '\n> ',
    '\n1. ',
    '\t',
    ' ',
    ' ',
    '|',
  ],
  ...['\n|-|-|\n', '\n--- | ---\n', '@maria', '@org/team', 'fixes ', 'closes: ', '#1', 'GH-1', 'o/r#1', 'https://github.com/o/r/issues/1'],
  ...['www.evil.example', '[x]', '[x](https://evil.example)', '![', '](', ')', '\n[x]: https://evil.example\n', '<', '<b>', '<!--', '-->'],
  ...[
    '\u00a0',
    '\f',
    '\u2003',
    'https://a.example/',
    '[a](b',
    ' "t',
    '" )',
    '[^',
    '[^1]: ',
    '[x][',
    ']',
    '<.',
    '$',
    '$$',
    '- [ ] ',
    '@b.example>',
  ],
  ...['&#64;', '&commat;', '&num;', '*', '_', '**', 'a', 'js', ':', '\r', '<pre>', '</pre>', '"', "'", '!', '#', '&'],
]

/** What cmark-gfm, which is GitHub's, reads in its own way, and neither of the parsers above does. */
const gitHubOnly: readonly (readonly [string, string])[] = [
  ['an address without a scheme that swallows a backtick', `www.a.example/\`x ${live} ![i](u)\` y`],
  ['an address with a vertical tab for its first character', `https://\v#\`> ${live} ![i](u)\` y`],
  ['an address that is no link, by a line under the last parts of its name', 'https://a_b.c/@maria https://a.b_c/@maria'],
  ['an address that is no link, in a bracket', '[ https://a.example/@maria'],
  ['a label of a link that swallows a backtick', `[x][b\`c] ${live} \`d\n\n[b\`c]: /\``],
  ['a span of more than 80 backticks', `a ${'`'.repeat(81)} ${live} ${'`'.repeat(81)}`],
  ['a fence of more than 255, closed by less', `${'`'.repeat(300)}\nx\n${'`'.repeat(260)}\n${live}\n${'`'.repeat(300)}`],
  ['a definition behind a box to tick', '[r]\n\n- [ ] [r]: //evil.example'],
  ['a table of one column', `a\n:-\n\`x | ${live}\` |`],
  ['a formula of lines around a fence', `$$\n\`\`\`\n${live}\n\`\`\`\n$$`],
  ['a formula with a span in it', `$\`${live}\`$`],
  ['a diagram', `\`\`\`mermaid\nclick A "https://evil.example"\n${live}\n\`\`\``],
  ['a diagram by an entity', `~~~ mer&#109;aid\n${live}\n~~~`],
]

test.each(gitHubOnly)('what only GitHub reads so is doubt, and nothing in it acts: %s', (_, text) => {
  const acts = /@maria|fixes #1|!\[/
  const inert = (links: 'kept' | 'shown') => makeInert(text, links).replace(/`https:[^`]*`/g, '')
  expect(inert('kept')).not.toMatch(acts)
  expect(inert('shown')).not.toMatch(new RegExp(`${acts.source}|\\]\\(|\\]:|:\\/\\/|www\\.`))
})

test.each([
  ['an address', 'see https://a.example/x and `@types/node`'],
  ['a link', '[a](https://en.example/wiki/A_(b) "words") and `@types/node`'],
  ['a footnote that is none any more', 'a[ ^1] `@types/node`\n\n[ ^1]: b'],
  ['a price', 'for $5, see `@types/node`'],
  ['variables of a shell', 'Set $HOME.\n```sh\necho $HOME @maria\n```'],
  ['an angle', 'if a < b then `@types/node`'],
])('beside %s there is no doubt', (_, text) => {
  expect(makeInert(text)).toBe(text)
})

test.each([
  ['alone', 'see https://a.example/@maria.', 'see `https://a.example/@maria`.'],
  ['as a link', '[x](https://a.example/@maria "t")', 'x (`https://a.example/@maria`)'],
])('an address with a name in it is shown, since what stands around it decides whether it is one: %s', (_, text, expected) => {
  expect(makeInert(text)).toBe(expected)
})

describe('code stays as it is where there is no doubt', () => {
  test.each([
    ['a fence in a list', '1. a\n   ```ts\n   @Injectable() // fixes #1 <b>\n   ```\n2. b'],
    ['a fence in a fence', '````md\n```\n@maria\n```\n````'],
    ['spans with other backticks in them', 'run `` a`b @x `` and `@types/node`'],
    ['a bar outside of a table', 'use `a || @b`'],
    ['an escape that is none', 'a \\* b `@types/node`'],
  ])('%s', (_, text) => {
    expect(makeInert(text, 'shown')).toBe(text)
  })
})

test.each([
  ['a keyword in code', 'done `fixes #1`', 'done `fixes # 1`'],
  ['a keyword in a fence', '```\nCloses GH-12\n```', '```\nCloses GH- 12\n```'],
  [
    'a keyword before an address',
    'fix `https://github.com/o/r/issues/1` resolves https://github.com/o/r/issues/1',
    'fix `https: //github.com/o/r/issues/1` resolves https: //github.com/o/r/issues/1',
  ],
  ['a name', 'bump @types/node', 'bump `@types/node`'],
  ['a name in code', 'run `npm i @types/node`', 'run `npm i @ types/node`'],
])('a commit message is no Markdown: %s closes and calls nothing', (_, text, expected) => {
  const inert = makeInertForCommit(text)
  expect([inert, find(closing)(inert.replaceAll('`', ''))]).toEqual([expected, []])
})
