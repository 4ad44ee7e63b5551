import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { EffectState, NewEvent } from '../../domain/index.ts'
import {
  applyEffect,
  createBackOff,
  type EffectPorts,
  type EffectProposal,
  GitHubAway,
  noGit,
  settleByReadBack,
  sleepUnlessStopped,
} from '../../effects/index.ts'
import { createGitHubApp, createWritePace } from '../../github/index.ts'
import { type Simulator, startSimulator } from '../../simulator/index.ts'

let simulator: Simulator
let events: NewEvent[]
let holds: boolean
let fenced: boolean
let ports: EffectPorts
let stopping: AbortController
let proposal: EffectProposal & { kind: 'comment' }

beforeEach(async () => {
  simulator = await startSimulator()
  const { github } = simulator
  github.addUser({ login: 'mona' })
  const repository = await github.addRepository({ owner: 'octo', name: 'parser' })
  await github.openIssue({ repo: 'octo/parser', author: 'mona', title: 'a', body: '' })
  const installationId = [...github.state.installations.values()][0]?.id ?? 0
  events = []
  stopping = new AbortController()
  holds = true
  fenced = false
  const app = createGitHubApp({ apiUrl: github.url, appId: String(github.appId), privateKey: github.appPrivateKey, timeoutMs: 500 })
  ports = {
    record: async batch => {
      if (fenced) return 'fenced'
      events.push(...batch)
      return 'recorded'
    },
    holds: async () => holds,
    mint: async request => (await app.mint(request)).token,
    api: token => app.api(token),
    botLogin: async () => (await app.identity()).botLogin,
    git: noGit('nothing is pushed here'),
    markerKey: Buffer.alloc(32, 1),
    sleep: ms => sleepUnlessStopped(Math.min(ms, 50), stopping.signal),
    readBackGapMs: 20,
    writes: { pace: createWritePace(), limits: { writeGapMs: 0, contentPerMinuteMax: 80, contentPerHourMax: 500 } },
  }
  proposal = {
    kind: 'comment',
    ordinal: 1,
    intent: {
      owner: 'octo',
      repo: 'parser',
      repositoryId: Number(repository.id),
      installationId,
      number: 1,
      since: '2020-01-01T00:00:00Z',
      body: 'hello',
    },
  }
})
afterEach(() => simulator.close())

const comments = () => [...(simulator.github.state.repositories.get('octo/parser')?.comments.values() ?? [])]
const latest = (comment: { versions: { body: string }[] }) => comment.versions.at(-1)?.body ?? ''
const phases = () =>
  events.map(event =>
    event.type === 'effect.settled' ? `${event.payload.state}${event.payload.foundByReadBack ? ' by read-back' : ''}` : event.type.slice(7),
  )
const apply = (known: EffectState | null = null) => applyEffect('t_01', proposal, known, ports)

function known(state: EffectState['state'], tries: number): EffectState {
  return {
    kind: 'comment',
    key: 'comment-1',
    state,
    tries,
    intent: proposal.intent,
    remote: null,
    reason: '',
    foundByReadBack: false,
    attempt: 1,
    preparedAt: 0,
    updatedAt: 0,
  }
}

test('an effect is prepared, dispatched and confirmed, with its marker on the first line', async () => {
  expect(await apply()).toMatchObject({ kind: 'settled', state: 'confirmed' })
  expect(phases()).toEqual(['prepared', 'dispatched', 'confirmed'])
  expect(comments().map(comment => latest(comment).split('\n')[0])).toEqual([
    expect.stringMatching(/^<!-- grokbot:v1 kind=comment task=t_01 key=comment-1 mac=[0-9a-f]{32} -->$/),
  ])
})

test('one that is settled is not done again', async () => {
  expect(await apply({ ...known('confirmed', 1), remote: { id: 5 } })).toEqual({
    kind: 'settled',
    state: 'confirmed',
    remote: { id: 5 },
    reason: '',
  })
  expect([comments(), events]).toEqual([[], []])
})

test('a worker that loses its task while it looks for a check run makes none', async () => {
  const { owner, repo, repositoryId, installationId } = proposal.intent
  const headSha = (await simulator.github.refs('octo/parser'))['refs/heads/main'] ?? ''
  const run = { checkRunId: null, status: 'queued', conclusion: null, title: 'queued', summary: '' } as const
  const intent = { owner, repo, repositoryId, installationId, headSha, name: 'grok / fix', externalId: 't_01', ...run } as const
  const asked: string[] = []
  simulator.github.observe(({ method, path }) => {
    if (!path.includes('check-runs')) return
    asked.push(method)
    holds = false
  })
  expect([await applyEffect('t_01', { kind: 'check-run', ordinal: 1, intent }, null, ports), asked]).toEqual([{ kind: 'fenced' }, ['GET']])
})

test('what was recorded wins over what would be proposed now', async () => {
  proposal.intent = { ...proposal.intent, body: 'newer' }
  const before = known('prepared', 0)
  await apply({ ...before, intent: { ...proposal.intent, body: 'recorded' } })
  expect(comments().map(comment => latest(comment).split('\n')[1])).toEqual(['recorded'])
})

describe('a lost answer leads to one comment, not two', () => {
  test('when the server did it and the connection broke', async () => {
    simulator.github.fail({ method: 'POST', path: /comments$/, fault: { kind: 'cut', when: 'after' } })
    expect(await apply()).toMatchObject({ state: 'confirmed' })
    expect([comments().length, phases()]).toEqual([1, ['prepared', 'dispatched', 'confirmed by read-back']])
  })
  test('when the server did not do it', async () => {
    simulator.github.fail({ method: 'POST', path: /comments$/, fault: { kind: 'cut', when: 'before' } })
    expect(await apply()).toMatchObject({ state: 'confirmed' })
    expect([comments().length, phases()]).toEqual([1, ['prepared', 'dispatched', 'dispatched', 'confirmed']])
  })
  test('when the answer ends in the middle', async () => {
    simulator.github.fail({ method: 'POST', path: /comments$/, fault: { kind: 'half-answer' } })
    expect(await apply()).toMatchObject({ state: 'confirmed', remote: { id: expect.any(Number) } })
    expect([comments().length, phases()]).toEqual([1, ['prepared', 'dispatched', 'confirmed by read-back']])
  })
  test('when a dead attempt had sent it', async () => {
    await apply()
    events = []
    expect(await apply(known('dispatched', 1))).toMatchObject({ state: 'confirmed' })
    expect([comments().length, phases()]).toEqual([1, ['confirmed by read-back']])
  })
  test('when the list does not show it at the first look', async () => {
    await apply()
    events = []
    ports = { ...ports, readBackGapMs: 300, sleep: ms => sleepUnlessStopped(ms, stopping.signal) }
    simulator.github.setReadLag(200)
    expect(await apply(known('dispatched', 1))).toMatchObject({ state: 'confirmed' })
    expect(comments().length).toBe(1)
  })
})

test("a stranger's copy of the marker is not taken for ours", async () => {
  await apply()
  const [ours] = comments()
  simulator.github.state.repositories.get('octo/parser')?.comments.clear()
  await simulator.github.comment({ repo: 'octo/parser', number: 1, author: 'mona', body: ours ? latest(ours) : '' })
  events = []
  await apply(known('dispatched', 1))
  expect(comments().length).toBe(2)
})

test('a refusal is settled with what GitHub said, and not sent again', async () => {
  proposal.intent = { ...proposal.intent, number: 99 }
  expect(await apply()).toMatchObject({ state: 'rejected', reason: expect.stringContaining('404') })
  expect(phases()).toEqual(['prepared', 'dispatched', 'rejected'])
})

test('a rate limit is waited for', async () => {
  simulator.github.fail({ method: 'POST', path: /comments$/, fault: { kind: 'secondary-limit', status: 429, retryAfterSeconds: 1 } })
  expect(await apply()).toMatchObject({ state: 'confirmed' })
  expect(comments().length).toBe(1)
})

test('what got no answer and is not there stays dispatched: the caller waits and comes back', async () => {
  simulator.github.fail({ method: 'POST', path: /comments$/, fault: { kind: 'cut', when: 'before' }, times: 3 })
  await expect(apply()).rejects.toThrow(GitHubAway)
  expect(phases()).toEqual(['prepared', 'dispatched', 'dispatched', 'dispatched'])
  events = []
  expect(await apply(known('dispatched', 3))).toMatchObject({ state: 'confirmed' })
  expect([comments().length, phases()]).toEqual([1, ['dispatched', 'confirmed']])
})

describe('GitHub gives no token for the place', () => {
  const removed = () => simulator.github.fail({ method: 'POST', path: /access_tokens$/, fault: { kind: 'status', status: 404 }, times: 9 })
  test('what was never sent is rejected with the reason', async () => {
    removed()
    expect(await apply()).toMatchObject({ state: 'rejected', reason: expect.stringContaining('404') })
    expect(phases()).toEqual(['prepared', 'rejected'])
  })
  test('what was sent is unknown: nobody can look', async () => {
    removed()
    expect(await apply(known('dispatched', 1))).toMatchObject({ state: 'unknown', reason: expect.stringContaining('404') })
    expect(phases()).toEqual(['unknown'])
  })
  test('a wrong key of the App says nothing about the place: nothing is settled', async () => {
    simulator.github.fail({ method: 'POST', path: /access_tokens$/, fault: { kind: 'status', status: 401 } })
    await expect(apply()).rejects.toMatchObject({ status: 401 })
    expect(phases()).toEqual(['prepared'])
  })
})

test('a list that is refused for good leaves what was sent unknown', async () => {
  simulator.github.fail({ method: 'GET', path: /comments$/, fault: { kind: 'status', status: 410 }, times: 2 })
  expect(await apply(known('dispatched', 1))).toMatchObject({ state: 'unknown', reason: expect.stringContaining('410') })
})

test('one that is refused once says nothing: what was sent is found by the next look', async () => {
  simulator.github.fail({ method: 'POST', path: /comments$/, fault: { kind: 'html', status: 502, done: true }, times: 1 })
  simulator.github.fail({ method: 'GET', path: /comments$/, fault: { kind: 'status', status: 404 } })
  expect(await apply()).toMatchObject({ state: 'confirmed' })
  expect([comments().length, phases()]).toEqual([1, ['prepared', 'dispatched', 'confirmed by read-back']])
})

test('what is refused once and not there once is looked for a third time', async () => {
  const lists = simulator.github.fail({ method: 'GET', path: /comments$/, fault: { kind: 'status', status: 404 } })
  const looks = () => simulator.github.requests().filter(({ method, url }) => method === 'GET' && url.includes('/comments')).length
  const before = looks()
  expect(await apply(known('dispatched', 1))).toMatchObject({ state: 'confirmed' })
  expect([lists.hits(), looks() - before, comments().length]).toEqual([1, 3, 1])
})

test('a token that is refused in the middle is replaced by a new one', async () => {
  simulator.github.fail({ method: 'POST', path: /comments$/, fault: { kind: 'status', status: 401 } })
  expect(await apply()).toMatchObject({ state: 'confirmed' })
  expect(simulator.github.requests().filter(request => request.url.endsWith('/access_tokens')).length).toBe(2)
})

test('a limit that ends too late to be waited for here is left to the caller, with the wait GitHub asked for', async () => {
  simulator.github.fail({ method: 'POST', path: /comments$/, fault: { kind: 'primary-limit', resetInSeconds: 1_800 } })
  const error = await apply().catch(error => error)
  expect(error).toBeInstanceOf(GitHubAway)
  expect(Math.abs(error.waitMs - 1_801_000)).toBeLessThan(3_000)
  expect([comments().length, phases()]).toEqual([0, ['prepared', 'dispatched']])
})

test('502 on every POST although GitHub made the comment: there is exactly one, and it is found', async () => {
  simulator.github.fail({ method: 'POST', path: /comments$/, fault: { kind: 'html', status: 502, done: true }, times: 9 })
  expect(await apply()).toMatchObject({ state: 'confirmed', remote: { id: expect.any(Number) } })
  expect([comments().length, phases()]).toEqual([1, ['prepared', 'dispatched', 'confirmed by read-back']])
})

describe('a stop', () => {
  test('does not wait out the gap of a read-back: the effect stays dispatched', async () => {
    ports = { ...ports, readBackGapMs: 60_000, sleep: ms => sleepUnlessStopped(ms, stopping.signal) }
    setTimeout(() => stopping.abort(), 300)
    const startedAt = Date.now()
    expect(await apply(known('dispatched', 1))).toEqual({ kind: 'stopped', sent: true })
    expect(Date.now() - startedAt).toBeLessThan(2_000)
    expect([comments(), phases()]).toEqual([[], []])
  })
  test('does not wait out a rate limit, and nothing is sent after it', async () => {
    ports = { ...ports, sleep: ms => sleepUnlessStopped(ms, stopping.signal) }
    simulator.github.fail({ method: 'POST', path: /comments$/, fault: { kind: 'secondary-limit', retryAfterSeconds: 60 } })
    setTimeout(() => stopping.abort(), 300)
    expect(await apply()).toEqual({ kind: 'stopped', sent: false })
    expect([comments(), phases()]).toEqual([[], ['prepared', 'dispatched']])
  })
})

describe('settling by looking only', () => {
  const look = (state: EffectState) => settleByReadBack('t_01', 't_01:comment:1', state, 'its task has ended', ports)
  const writes = () =>
    simulator.github.requests().filter(request => request.method !== 'GET' && !request.url.includes('access_tokens')).length
  test.each([['dispatched'], ['unknown']] as const)('finds what a %s effect made', async state => {
    await apply()
    events = []
    const before = writes()
    expect(await look(known(state, 1))).toMatchObject({ state: 'confirmed', remote: { id: expect.any(Number) } })
    expect([phases(), writes()]).toEqual([['confirmed by read-back'], before])
  })
  test.each([
    ['prepared', 'its task has ended'],
    ['dispatched', 'it is not there, and its task has ended'],
    ['unknown', 'it is not there, and its task has ended'],
  ] as const)('rejects a %s effect that is not there, and sends nothing', async (state, reason) => {
    expect(await look(known(state, 1))).toMatchObject({ state: 'rejected', reason })
    expect([comments(), writes()]).toEqual([[], 0])
  })
  test('leaves unknown what nobody lets us look for', async () => {
    simulator.github.fail({ method: 'GET', path: /comments$/, fault: { kind: 'status', status: 404 }, times: 2 })
    expect(await look(known('unknown', 1))).toMatchObject({ state: 'unknown' })
    expect(events).toEqual([])
  })
})

test('waits double up to their limit, what GitHub asks for counts up to its own, and success forgets', () => {
  let now = 0
  const backOff = createBackOff(
    () => ({ retryWaitMs: 10, retryWaitMsMax: 35, rateLimitWaitMsMax: 100 }),
    () => now,
  )
  expect([backOff.due('a'), backOff.failed('a'), backOff.failed('a'), backOff.failed('a'), backOff.failed('a')]).toEqual([
    true,
    10,
    20,
    35,
    35,
  ])
  expect([backOff.failed('b', 60), backOff.failed('c', 9_999), backOff.waiting()]).toEqual([60, 100, 3])
  now = 36
  expect([backOff.due('a'), backOff.due('b'), backOff.waiting()]).toEqual([true, false, 2])
  backOff.succeeded('b')
  expect(backOff.due('b')).toBe(true)
})

describe('an attempt that lost its task writes nothing', () => {
  test('when the ledger says so', async () => {
    fenced = true
    expect([await apply(), comments()]).toEqual([{ kind: 'fenced' }, []])
  })
  test('when its lease ran out right before the send', async () => {
    holds = false
    expect([await apply(), comments()]).toEqual([{ kind: 'fenced' }, []])
  })
})

test('its token is for one repository and the permissions of the effect', async () => {
  await apply()
  const request = simulator.github.requests().find(each => each.method === 'POST' && each.url.endsWith('/comments'))
  expect(request?.auth).toEqual({
    kind: 'installation',
    installationId: proposal.intent.installationId,
    permissions: { issues: 'write', pull_requests: 'write', metadata: 'read' },
    repositories: ['octo/parser'],
  })
  simulator.github.assertNoUnknownRequests()
})
