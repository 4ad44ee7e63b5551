import MarkdownIt, { type Token } from 'markdown-it'
import { describe, expect, test } from 'vitest'
import { makeInert, makeInertForCommit } from '../../effects/outgoing-filter.ts'

/** What GitHub's renderer would make of a text, by another parser than the filter's own: everything in it that acts. */
function actsIn(text: string, links: 'kept' | 'shown'): string[] {
  const tokens = new MarkdownIt({ html: true }).parse(text, {})
  const raw = tokens.filter(token => token.type === 'html_block').map(token => `html ${token.content}`)
  return [...raw, ...tokens.flatMap(token => (token.children === null ? [] : actsInLine(token.children, links)))]
}

function actsInLine(children: readonly Token[], links: 'kept' | 'shown'): string[] {
  const nodes = children.filter(token => token.type === 'text').map(token => token.content)
  const whole = children.map(token => (token.type === 'text' ? token.content : token.type.endsWith('break') ? '\n' : '')).join('')
  const ofKind = (kind: string) => children.filter(token => token.type === kind).map(token => `${kind} ${token.content}`)
  const called = (links === 'kept' ? nodes.map(node => node.replace(/https?:\/\/[\w-]+\.[^\s<]+/g, '')) : nodes).flatMap(find(mention))
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
      const text = Array.from({ length: 2 + next(12) }, () => pieces[next(pieces.length)]).join('')
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
  ...['&#64;', '&commat;', '&num;', '*', '_', '**', 'a', 'js', ':', '\r', '<pre>', '</pre>', '"', "'", '!', '#', '&'],
]

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
