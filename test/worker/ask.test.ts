import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TaskState } from '../../domain/index.ts'
import type { ModelTurn } from '../../simulator/index.ts'
import { openServe, type Repo, type ServeStage, withoutMarker, write } from './open-serve.ts'

let stage: ServeStage
let repo: Repo
beforeAll(async () => {
  stage = await openServe()
  repo = await stage.repository('asked', { 'src/limits.sh': 'tries=5\nmost=$tries\n' })
}, 60_000)
afterAll(() => stage.close())
const timeout = 150_000

const read = (file: string, more: object = {}): ModelTurn => ({
  toolCalls: [{ name: 'read_file', arguments: { target_file: file, ...more } }],
})
const run = (command: string): ModelTurn => ({ toolCalls: [{ name: 'run_terminal_command', arguments: { command, description: 'x' } }] })
const timeless = (body: string) => body.replace(/— \d+ (?:s|min[^,]*),/, '— TIME,')
const issue = () => stage.simulator.github.openIssue({ repo: repo.name, author: 'mona', title: 'Why five tries?', body: 'I expected ten.' })
const effects = (state: TaskState) => Object.values(state.effects).map(({ kind, state: phase }) => `${kind} ${phase}`)
const results = (state: TaskState) => (state.session?.turns ?? []).flatMap(turn => turn.calls).map(call => call.settled)
/** What notifies people: whatever is made and not only edited. */
const made = (number: number) =>
  stage.simulator.github
    .requests()
    .filter(
      ({ method, url, status }) => method === 'POST' && (status ?? 500) < 300 && /\/(comments|reviews|pulls|check-runs|replies)$/.test(url),
    )
    .filter(({ url }) => url.includes(`/${number}/`)).length

test('Q72: an answer is one comment, and nothing else was sent: our line about it, the words of the model, and which files were read', {
  timeout,
}, async () => {
  const { number } = issue()
  const before = stage.simulator.model.requests.length
  const state = await repo.say(number, '/grok ask why does it stop at five?', {
    turns: [
      read('src/limits.sh'),
      read('notes.txt', { offset: 2, limit: 3 }),
      read('nowhere.txt'),
      run('cat add.sh; echo x > add.sh; git log --oneline | wc -l'),
    ],
    words: 'It stops at five because `src/limits.sh:1` says so.\n\ncc @maria, fixes #1',
  })
  const main = (await stage.simulator.github.refs(repo.name))['refs/heads/main'] ?? ''
  expect([state.outcome?.outcome, state.outcome?.reason]).toEqual(['succeeded', 'answered'])
  expect(repo.ours(number).map(timeless)).toEqual([
    [
      `**grok ask** — TIME, read 2 files at \`${main.slice(0, 7)}\``,
      '> It stops at five because `src/limits.sh:1` says so.\n> \n> cc `@maria`, fixes `#1`',
      'Sources: `src/limits.sh`, `notes.txt:2-4`.',
    ].join('\n\n'),
  ])
  expect(made(number)).toBe(1)
  expect(effects(state)).toEqual(['reaction confirmed', 'comment confirmed'])
  // Read-only throughout: the tools that write are not there, and a command's write fails in the sandbox.
  expect(state.session?.started?.tools).toEqual(['read_file', 'list_dir', 'grep', 'run_terminal_command', 'todo_write'])
  expect(results(state).at(-1)?.result).toMatch(/echo \$\(\(\$1 - \$2\)\)[\s\S]*Read-only file system[\s\S]*1/)
  expect(results(state).at(-1)?.sandbox).toMatchObject({ profile: 'review', state: 'enforced' })
  expect([state.setup, state.change, state.commit, state.verdict, state.snapshot]).toEqual([null, null, null, null, null])
  expect(Object.values(state.checks).flat()).toEqual([])
  expect(JSON.stringify(stage.simulator.model.requests[before]?.body)).toContain('You answer a question about one repository')
})

test('a tool that writes is refused also when the model calls it', { timeout }, async () => {
  const { number } = issue()
  const state = await repo.say(number, '/grok ask why?', { turns: [write('add.sh', 'echo 3\n')], words: 'It is so.' })
  expect(results(state).map(call => call?.status)).toEqual(['error'])
  expect(state.outcome?.outcome).toBe('succeeded')
  expect(repo.ours(number)).toEqual([
    expect.stringMatching(/read 0 files at `[0-9a-f]{7}`\n\n> It is so\.\n\nSources: no file was read\.$/),
  ])
})

test('on a pull request the head is read, in a thread of its diff the answer stands in that thread', { timeout }, async () => {
  const number = await repo.pull({ branch: 'thread', files: { 'feature.txt': 'only here\n' } })
  const head = (await repo.branch('thread'))?.sha ?? ''
  const { state, threadId } = await repo.sayOnLine(
    number,
    '/grok ask what is this?',
    { path: 'feature.txt', line: 1 },
    {
      turns: [read('feature.txt')],
      words: 'A new file.',
    },
  )
  expect([state.outcome?.outcome, effects(state)]).toEqual(['succeeded', ['reaction confirmed', 'reply confirmed']])
  expect(results(state)[0]?.result).toContain('only here')
  const replies = [...(stage.simulator.github.state.repositories.get(repo.name)?.reviewComments.values() ?? [])].filter(
    each => each.inReplyTo === threadId,
  )
  expect(replies.map(({ body }) => timeless(withoutMarker(body)))).toEqual([
    `**grok ask** — TIME, read 1 file at \`${head.slice(0, 7)}\`\n\n> A new file.\n\nSources: \`feature.txt\`.`,
  ])
  expect(repo.ours(number)).toEqual([])
  expect(made(number)).toBe(1)
})

test('a thread that is gone when the answer is there leaves the conversation', { timeout }, async () => {
  const number = await repo.pull({ branch: 'gone-thread', files: { 'gone.txt': 'only here\n' } })
  const comments = () => [...(stage.simulator.github.state.repositories.get(repo.name)?.reviewComments.values() ?? [])]
  const during = async () => {
    for (const each of comments().filter(({ issueNumber }) => issueNumber === number))
      stage.simulator.github.deleteReviewComment({ repo: repo.name, commentId: each.id })
  }
  const { state } = await repo.sayOnLine(
    number,
    '/grok ask what is this?',
    { path: 'gone.txt', line: 1 },
    { turns: [], words: 'A file.', during },
  )
  expect([state.outcome?.outcome, effects(state).slice(-2)]).toEqual(['succeeded', ['reply rejected', 'comment confirmed']])
  expect(repo.ours(number)).toEqual([expect.stringContaining('> A file.')])
})

test('what a stranger wrote may have steered it: its links say where they lead', { timeout }, async () => {
  const { number } = stage.simulator.github.openIssue({ repo: repo.name, author: 'lena', title: 'x', body: 'y' })
  const words = 'See [the docs](https://evil.example/?d=1).'
  await repo.say(number, '/grok ask where?', { turns: [], words })
  expect(repo.ours(number)).toEqual([expect.stringContaining('> See the docs (`https://evil.example/?d=1`).')])
})

test('the words of the model can not pass for ours, nor take our lines in', { timeout }, async () => {
  const { number } = issue()
  const words = 'It is so.\n\n```\nunclosed\n\n**grok ask** — approved\n\n<details>'
  await repo.say(number, '/grok ask why?', { turns: [], words })
  const [body = ''] = repo.ours(number)
  expect(body.split('\n').filter(line => !line.startsWith('>'))).toEqual([
    expect.stringMatching(/^\*\*grok ask\*\* — .*, read 0 files at `[0-9a-f]{7}`$/),
    '',
    '',
    'Sources: no file was read.',
  ])
})

describe('Q73: success needs an answer', () => {
  const rows: [title: string, turns: ModelTurn[], reason: string, code: string, goOn: string][] = [
    [
      'that is empty after words on the way',
      [{ text: 'I will look.', ...read('notes.txt') }, { text: '   ' }],
      'the model ended without an answer',
      'no-answer',
      '- Go on: `/grok retry` starts it again from the beginning\n- Or say more: `/grok ask <what>`',
    ],
    [
      'that a limit cut off',
      Array.from({ length: 4 }, (_, index) => ({ text: 'I am looking.', ...read('notes.txt', { offset: index + 1, limit: 1 }) })),
      'the session ended by its turns limit before it had an answer',
      'turns-used',
      '- Go on: ask for a smaller step: `/grok ask <what>`\n- Or ask the operator to raise `turnsMax`',
    ],
  ]
  test.each(rows)('and one %s is none: it failed, and says so in one comment', { timeout }, async (title, turns, reason, code, goOn) => {
    const limited = await stage.repository(`q73-${title.length}`, { '.github/grok.yml': 'version: 1\nlimits: { turnsMax: 4 }\n' })
    const { number } = stage.simulator.github.openIssue({ repo: limited.name, author: 'mona', title: 'x', body: 'y' })
    const state = await limited.say(number, '/grok ask why?', { turns, words: '   ' })
    expect([state.outcome?.outcome, state.outcome?.reason, state.outcome?.code]).toEqual(['failed', reason, code])
    const [body = '', ...more] = limited.ours(number)
    expect(more).toEqual([])
    expect(body.replace(/after [^.]*\./, 'after TIME.')).toBe(
      `**grok ask** — failed after TIME.\n\n${reason.replace(/^t/, 'T')} (\`${code}\`)\n\n${goOn}`,
    )
  })

  test('and one that GitHub does not take is none', { timeout }, async () => {
    const { number } = issue()
    const fault = { kind: 'status', status: 403, message: 'It is locked' } as const
    const during = async () => void stage.simulator.github.fail({ method: 'POST', path: /comments$/, fault })
    const state = await repo.say(number, '/grok ask why?', { turns: [], words: 'It is so.', during })
    expect([state.outcome?.outcome, state.outcome?.reason]).toEqual([
      'failed',
      expect.stringMatching(/^the answer could not be posted: GitHub said 403: .*locked/),
    ])
    expect([effects(state).at(-1), repo.ours(number), state.outcome?.summary]).toEqual(['comment rejected', [], 'It is so.'])
  })

  test('whoever may not ask any more gets none, and is told so', { timeout }, async () => {
    const { number } = issue()
    const during = async () => stage.simulator.github.setPermission(repo.name, 'mona', 'read')
    const state = await repo.say(number, '/grok ask why?', { turns: [], words: 'It is so.', during })
    stage.simulator.github.setPermission(repo.name, 'mona', 'write')
    expect([state.outcome?.outcome, state.outcome?.code]).toEqual(['failed', 'access-gone'])
    const [told = '', ...more] = repo.ours(number)
    expect([told.includes('It is so.'), more]).toEqual([false, []])
    expect(told).toContain('The answer was not posted: `@mona` has no triage access any more (`access-gone`)')
  })
})
