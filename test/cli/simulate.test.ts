import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readPayload } from '../../cli/simulate/read-payload.ts'
import { grokbot, lastObject, openScene, type Scene, terminalOrders } from './scene.ts'

const wallMs = 120_000
const user = (id: number, login: string, type = 'User') => ({ id, login, node_id: '', type })

/** The body of a webhook in the fields GitHub always sends; everything else of it is GitHub's business. */
function payload(body: string, change: { author?: object; sender?: object; issue?: object } = {}): string {
  const author = change.author ?? user(7, 'mona')
  return JSON.stringify({
    action: 'created',
    issue: {
      id: 11,
      number: 12,
      title: 'the value is wrong',
      body: 'it must say fixed',
      user: user(8, 'lena'),
      state: 'open',
      locked: false,
      created_at: '2026-01-02T03:04:00Z',
      ...change.issue,
    },
    comment: { id: 13, body, user: author, created_at: '2026-01-02T03:04:05Z' },
    repository: { id: 14, name: 'web', full_name: 'org/web', private: false, owner: user(15, 'org', 'Organization') },
    installation: { id: 16 },
    sender: change.sender ?? author,
  })
}

describe('simulate', () => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene()
  })
  afterAll(() => scene.remove())

  const play = async (body: string, ...more: string[]) => {
    const file = scene.write('payload.json', body)
    const ran = await grokbot(['simulate', file, '--event', 'issue_comment', '--repo', scene.repo, '--json', '-q', ...more])
    return { ...ran, result: ran.stdout === '' ? null : lastObject(ran.stdout) }
  }

  it('plays an accepted command to its pull request, with every effect in the order it was sent', { timeout: wallMs }, async () => {
    const { result, exitCode, stderr } = await play(payload('/grok fix'), '--model-script', scene.script)
    expect(exitCode, stderr).toBe(0)
    expect(result).toMatchObject({
      acceptance: { kind: 'accepted', command: { verb: 'fix', text: '' } },
      outcome: 'succeeded',
      taskId: expect.stringMatching(/^t_/),
    })
    const effects = (result as { effects: { kind: string; state: string }[] }).effects
    expect(effects.filter(({ kind }) => kind !== 'progress').map(({ kind, state }) => `${kind} ${state}`)).toEqual([
      'reaction confirmed',
      'push confirmed',
      'pull-request confirmed',
    ])
  })
  it('refuses who may not ask, in one comment that names the role', { timeout: wallMs }, async () => {
    const { result, exitCode } = await play(payload('/grok fix'), '--permission', 'read')
    expect(exitCode).toBe(3)
    expect(result).toMatchObject({
      acceptance: { kind: 'refused', reason: 'role', words: expect.stringContaining('you have read'), command: { verb: 'fix' } },
      effects: [{ kind: 'comment', state: 'confirmed' }],
      outcome: 'refused',
    })
  })
  it('plays an owner as somebody with less, when that is asked for', { timeout: wallMs }, async () => {
    const { result } = await play(payload('/grok fix', { author: user(15, 'org') }), '--permission', 'triage')
    expect(result).toMatchObject({ acceptance: { kind: 'refused', reason: 'role' } })
  })
  it('answers a command that needs no model', { timeout: wallMs }, async () => {
    const { result, exitCode } = await play(payload('/grok help'), '--permission', 'read')
    expect(exitCode).toBe(0)
    expect(result).toMatchObject({
      acceptance: { kind: 'accepted', command: { verb: 'help' } },
      effects: [{ kind: 'reaction' }, { kind: 'comment' }],
      outcome: 'succeeded',
    })
  })

  const ignored: [name: string, body: string, reason: RegExp][] = [
    ['a comment without a command', payload('looks good, /grok fix is not at the start'), /no command/],
    ['another bot', payload('/grok fix', { author: user(99, 'robot[bot]', 'Bot') }), /bot/],
    ['an event whose sender is not the author', payload('/grok fix', { sender: user(9, 'ravi') }), /sender and author differ/],
  ]
  it.each(ignored)('ignores %s, with the reason and no effect', { timeout: wallMs }, async (_, body, reason) => {
    const { result, exitCode } = await play(body)
    expect([exitCode, result]).toEqual([
      0,
      {
        acceptance: { kind: 'ignored', reason: expect.stringMatching(reason) },
        effects: [],
        outcome: null,
        reason: null,
        code: null,
        taskId: null,
        more: [],
      },
    ])
  })
  it('says of an event that is not kept why it is not', { timeout: wallMs }, async () => {
    const file = scene.write('push.json', JSON.stringify({ ref: 'refs/heads/main', sender: user(7, 'mona') }))
    const ran = await grokbot(['simulate', file, '--event', 'push', '--repo', scene.repo, '--json', '-q'])
    expect(lastObject(ran.stdout)).toMatchObject({ acceptance: { kind: 'ignored', reason: 'not one of our events' } })
  })
  it('says of a payload that does not fit its event where, and ends with 2', { timeout: wallMs }, async () => {
    const { result, exitCode } = await play(payload('/grok fix', { issue: { created_at: undefined } }))
    expect([exitCode, result]).toEqual([
      2,
      expect.objectContaining({
        acceptance: { kind: 'ignored', reason: expect.stringMatching(/^payload: issue\.created_at /), malformed: true },
      }),
    ])
  })
  it('says which events are served when it is given another', { timeout: wallMs }, async () => {
    const ran = await grokbot(['simulate', scene.write('typo.json', payload('/grok fix')), '--event', 'issue_coment', '--repo', scene.repo])
    expect(ran.stderr).toMatch(/issue_coment is none of the events that are served: issue_comment, issues, /)
  })
  it('shows what people read of each effect', { timeout: wallMs }, async () => {
    const { result } = await play(payload('/grok nope'))
    const { effects } = result as { effects: { kind: string; body?: string }[] }
    expect(effects).toMatchObject([{ kind: 'comment', body: expect.stringMatching(/`\/grok nope` is not a command\./) }])
    const ran = await grokbot([
      'simulate',
      scene.write('help.json', payload('/grok help')),
      '--event',
      'issue_comment',
      '--repo',
      scene.repo,
    ])
    expect(ran.stdout).toMatch(/^ {9}\| \*\*grok help\*\*$/m)
  })
  it('shows hostile words of a payload without an order to the terminal', { timeout: wallMs }, async () => {
    const orders = '\u001b]0;owned\u0007\u009b2J\u202e'
    const file = scene.write('hostile.json', payload(`/grok fix${orders} ${orders}`, { issue: { title: orders, body: orders } }))
    const ran = await grokbot(['simulate', file, '--event', 'issue_comment', '--repo', scene.repo])
    expect(ran.stdout).toMatch(/^refused/)
    expect(`${ran.stdout}${ran.stderr}`).not.toMatch(terminalOrders)
  })

  it('says that an event is no name, and ends with 2', { timeout: wallMs }, async () => {
    const ran = await grokbot(['simulate', scene.write('payload.json', '{}'), '--event', 'x\ny', '--repo', scene.repo])
    expect([ran.exitCode, ran.stderr]).toEqual([2, expect.stringMatching(/--event is one word .*\[option-value\]/)])
  })

  const broken: [name: string, body: string, says: RegExp][] = [
    ['no JSON', '{"a":', /is not JSON/],
    ['no object', '[1]', /is not a JSON object/],
  ]
  it.each(broken)('says that a file is %s', (_, body, says) => {
    const file = scene.write('broken.json', body)
    expect(() => readPayload(file, scene.repo)).toThrow(says)
  })
  it('says that a file is no webhook, and where, and ends with 2', { timeout: wallMs }, async () => {
    const { exitCode, stderr, stdout } = await play('{"repository": {"id": "x"}}')
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/is not the body of a webhook: repository\.id/)
  })
})
