import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPages } from '../../../app/index.ts'
import { bytesOf, html, lines } from '../../../app/pages/html.ts'
import { ownAddress } from '../../../app/pages/own-address.ts'
import type { NewEvent, RecordedEvent, TaskAccepted } from '../../../domain/index.ts'
import { registerSecret } from '../../../telemetry/index.ts'
import { eventOf } from '../../ledger/samples.ts'
import { hostileTexts } from './hostile-texts.ts'
import { openPageScene, type PageScene, type Recorded } from './page-scene.ts'

let scene: PageScene
beforeAll(async () => {
  scene = await openPageScene()
})
afterAll(() => scene.close())

let tasks = 0
async function pageOf(options: Recorded = {}): Promise<string> {
  const taskId = `t_${++tasks}`
  await scene.record(taskId, options)
  const answer = await createPages(scene.ports)({ method: 'GET', url: scene.place(taskId) })
  if (answer?.status !== 200) throw new Error(`the page of ${taskId} is answered ${answer?.status}`)
  return String(answer.body)
}

/** Every tag with its attributes, without what is different for each task: its links and its style. */
function tagsOf(page: string): string[] {
  const body = page.replace(/<style>[\s\S]*?<\/style>/, '')
  return [...body.matchAll(/<[^>]*>/g)].map(([tag]) => tag.replace(/href="t_\d+\/[^"]*"/, 'href'))
}

/** What a reader sees: the text between the tags, with its entities read once. */
function textOf(page: string): string {
  const entities: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" }
  return page
    .replace(/<style>[\s\S]*?<\/style>/, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(?:amp|lt|gt|quot|#39);/g, entity => entities[entity] ?? '')
}

describe('text of others is text, wherever it stands', () => {
  let plain: string
  beforeAll(async () => {
    plain = await pageOf()
  })
  test.each(hostileTexts)('%s', async (_, foreign = '', shown = foreign) => {
    const page = await pageOf({ foreign })
    expect(tagsOf(page)).toEqual(tagsOf(plain))
    // As often as plain words stand there: none is lost, and none is half.
    expect(textOf(page).split(shown).length).toBe(textOf(plain).split('plain words').length)
    expect(page.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
  })
  test('and would be markup without the escape function', () => {
    for (const [, foreign] of hostileTexts.slice(0, 4)) expect(tagsOf(plain.replaceAll('plain words', foreign))).not.toEqual(tagsOf(plain))
  })
  test('in an attribute too, and over several lines', () => {
    const page = html`<a title="${`"><b onclick='x'>`}">${['<', 1, null, html`<i>${'&'}</i>`, '\u202e']}</a><pre>
${lines('\n<b>\r\n\u0000')}</pre>`
    expect(bytesOf(page).toString()).toBe(
      '<a title="&quot;&gt;&lt;b onclick=&#39;x&#39;&gt;">&lt;1<i>&amp;</i>\\u{202e}</a><pre>\n\n&lt;b&gt;\n\\u{0}</pre>',
    )
  })
  test('and nothing that was read can pass for markup', () => {
    const forged = JSON.parse('{"markup":"<b>","html":"<b>","Symbol(markup)":"<b>"}')
    expect(bytesOf(html`<p>${forged}</p>`).toString()).not.toContain('<b>')
  })
})

describe('an address is a link', () => {
  const place = { githubHost: 'github.example', owner: 'octo', name: 'pager' }
  test.each(['https://github.example/octo/pager/pull/13', 'https://github.example/Octo/Pager/pull/13#issuecomment-1'])(
    'within the task’s own repository: %s',
    address => {
      expect(ownAddress(address, place)).toBe(address)
    },
  )
  test.each([
    'http://github.example/octo/pager/pull/13',
    'https://evil.example/octo/pager/pull/13',
    'https://github.example.evil.example/octo/pager/pull/13',
    'https://github.example@evil.example/octo/pager/pull/13',
    'https://octo:x@github.example/octo/pager/pull/13',
    'https://github.example:8443/octo/pager/pull/13',
    'https://github.example/octo/other/pull/13',
    'https://github.example/octo/pager-two/pull/13',
    'https://github.example/octo/pager/../other/pull/13',
    'https://github.example\\@evil.example/octo/pager/',
    '//github.example/octo/pager/pull/13',
    'javascript:alert(1)//github.example/octo/pager/',
    'data:text/html,<script>alert(1)</script>',
    ' javascript:alert(1)',
    'java\nscript:alert(1)',
    '',
    null,
    13,
  ])('nowhere else: %j', address => {
    expect(ownAddress(address, place)).toBe(null)
  })
  test('and of a page only this and our own are', async () => {
    const linked = async (pullUrl: string) =>
      [...(await pageOf({ pullUrl })).matchAll(/href="([^"]*)"/g)].map(([, address = '']) => address)
    const known = /^(?:#[a-z-]+|t_\d+\/(?:change\.patch|bundle\.json)\?k=[0-9a-f]{40}|\.\.\/\.well-known\/grokbot\/keys\.json)$/
    const pull = 'https://github.example/octo/pager/pull/13'
    expect((await linked(pull)).filter(address => !known.test(address))).toEqual([pull])
    for (const other of ['javascript:alert(1)', 'https://evil.example/octo/pager/pull/13'])
      expect((await linked(other)).filter(address => !known.test(address))).toEqual([])
  })
})

describe('what was put out is shown to whom the bundle shows it', () => {
  const canaries = {
    output: 'canary-of-output',
    words: 'canary-of-the-model',
    result: 'canary-of-a-tool',
    setup: 'canary-of-setup',
    prompt: 'canary-of-prompt',
  }
  const events: NewEvent[] = [
    eventOf('attempt.started'),
    eventOf('setup.settled', { output: canaries.setup }),
    eventOf('session.started', { systemPrompt: canaries.prompt, userPrompt: canaries.prompt }),
    eventOf('model.answered', { text: canaries.words, toolCalls: [{ id: 'call_0', name: 'read_file', arguments: canaries.words }] }),
    eventOf('tool.settled', { result: canaries.result }),
    eventOf('session.ended', { text: canaries.words }),
    eventOf('check.settled', { cell: 'newCodeNewTests', output: canaries.output }),
  ]
  const end = { outcome: 'failed', reason: 'no check proves it', summary: canaries.words } as const
  const seen = async (visibility: TaskAccepted['repository']['visibility']) => {
    const page = await pageOf({ visibility, events, end })
    return Object.entries(canaries).flatMap(([name, canary]) => (page.includes(canary) ? [name] : []))
  }
  test('of a private repository what the checks printed and what the model said at the end', async () => {
    expect([await seen('private'), await seen('internal')]).toEqual([
      ['output', 'words'],
      ['output', 'words'],
    ])
  })
  test('of a public repository nothing, and that is said', async () => {
    expect(await seen('public')).toEqual([])
    const page = await pageOf({ visibility: 'public', events, end })
    for (const what of ['It is', 'What the checks printed is'])
      expect(page).toContain(`<p>${what} left out, as in bundle.json: the repository is public.</p>`)
  })
})

test('a credential of this installation is shown nowhere', async () => {
  const secret = 'sUp3r-s3cret-of-this-installation-0123456789'
  registerSecret(secret)
  // As it would stand in a record from before it was one: the ledger's own filter has nothing to do with this.
  const page = await pageOf({ foreign: `x ${secret} y` })
  expect(page).not.toContain(secret)
  expect(page).toContain('[redacted]')
})

describe('a page is bounded', () => {
  test('that of a usual run has less than 150 KB and shows all of it', async () => {
    const turns = Array.from({ length: 50 }, (_, index) => index + 1)
    const events = [
      eventOf('attempt.started'),
      ...turns.flatMap(turn => [
        eventOf('model.requested', { turn }, `requested-${turn}`),
        eventOf('model.answered', { turn }, `answered-${turn}`),
        eventOf('tool.started', { turn }, `started-${turn}`),
        eventOf('tool.settled', { turn, meta: { input: { command: 'npm test -- --reporter=dot src/parser' } } }, `settled-${turn}`),
      ]),
      eventOf('session.ended'),
      eventOf('check.settled', { cell: 'newCodeNewTests', output: 'ok 1 - a test of the parser\n'.repeat(700) }),
    ]
    const page = await pageOf({ events, foreign: 'Last page is empty' })
    expect(page).not.toContain('left out.')
    expect(Buffer.byteLength(page)).toBeLessThan(150_000)
  })
  test('one with too much of everything says how much is left out and where it is', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => index)
    const file = { status: 'modified', from: null, mode: '100644', added: 1, removed: 1 } as const
    const long = '<&">'.repeat(10_000)
    const call = { name: long, meta: { input: { command: long } }, hosts: [long], status: 'denied' as const }
    const check = { cell: 'newCodeNewTests', output: `${long}\n${long}` } as const
    const events: NewEvent[] = [
      ...many(400).map(index => eventOf('tool.settled', { ...call, callId: `call_${index}` })),
      eventOf('session.ended', { text: long }),
      eventOf('change.collected', {
        files: many(300).map(index => ({ ...file, path: `${index}${long}`, notes: [long] })),
        leftOut: many(300).map(index => ({ path: `${index}${long}`, reason: long })),
      }),
      ...many(30).map(index => eventOf('check.settled', { ...check, name: `${index}${long}` })),
      eventOf('task.ended', { outcome: 'failed', reason: long }),
    ]
    const page = await pageOfEvents(events)
    const output = '74001 characters before this are left out; bundle.json has what was recorded.'
    expect([...page.matchAll(/<p class="quiet">([^<]*left out[^<]*)/g)].map(([, line]) => line)).toEqual([
      '10 more lines are left out; bundle.json has every check.',
      '100 more are left out; change.patch has all.',
      '100 more are left out; the operator’s record has all.',
      '34000 more characters are left out; bundle.json has them all.',
      '100 more files are left out; change.patch has them all.',
      ...many(8).map(() => output),
      '10 more are left out; bundle.json has every check.',
      'The newest 250 are shown; 180 older receipts are left out. bundle.json has them all.',
      'The newest 300 are shown; 135 older events are left out. bundle.json has them all.',
    ])
    expect(page).toContain('The newest 20 of them; bundle.json has all.')
    expect(Buffer.byteLength(page)).toBeLessThan(2_500_000)
  })
})

/** Of a task with more than a test could wait for to be recorded: its events come from a list. */
async function pageOfEvents(added: readonly NewEvent[]): Promise<string> {
  const taskId = `t_${++tasks}`
  await scene.record(taskId, { events: [eventOf('attempt.started')] })
  const { ledger } = scene
  const [first, second] = await ledger.readEvents(taskId)
  if (first === undefined || second === undefined) throw new Error('there are no first events')
  const more = added.map((event, index) => ({ ...second, ...event, seq: index + 3 }) as RecordedEvent)
  const readEvents = async (_: string, after: number, limit: number) => [first, second, ...more].slice(after, after + limit)
  const answer = await createPages({ ...scene.ports, ledger: { task: id => ledger.task(id), readEvents } })({
    method: 'GET',
    url: scene.place(taskId),
  })
  return String(answer?.body)
}
