import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { inTurn } from '../../effects/in-turn.ts'
import { applyEffect, type EffectPorts, GitHubAway, noGit, sleepUnlessStopped } from '../../effects/index.ts'
import { createGitHubApp, createWritePace, type WriteKind, type WritePace } from '../../github/index.ts'
import { type Simulator, startSimulator } from '../../simulator/index.ts'

const limits = { writeGapMs: 1_000, contentPerMinuteMax: 80, contentPerHourMax: 500 }
let at: number
let pace: WritePace
beforeEach(() => {
  at = 0
  pace = createWritePace(() => at)
})
/** Of somebody who has not asked before. */
const wish = (kind: WriteKind) => ({ kind, ticket: Symbol(kind) })
const same = Symbol('same')
/** How long it has to wait; 0: it was begun, and took no time. */
const write = (installation = 1, kind: WriteKind = 'content') => {
  const turn = pace.begin(installation, { kind, ticket: same }, limits)
  if (turn.kind === 'begun') turn.ended()
  return turn.kind === 'begun' ? 0 : turn.ms
}

describe('the writes of one installation', () => {
  test('are a gap apart from the end of one to the next, and the first waits for nothing', () => {
    const first = pace.begin(1, wish('content'), limits)
    at = 300
    if (first.kind === 'begun') first.ended()
    expect([first.kind, write(), write(2)]).toEqual(['begun', 1_000, 0])
    at = 1_299
    expect(write(1, 'other')).toBe(1)
    at = 1_300
    expect(write(1, 'other')).toBe(0)
  })

  test('are one after another', () => {
    const first = pace.begin(1, wish('other'), { ...limits, writeGapMs: 0 })
    expect([first.kind, write(1, 'other') > 0, write(2, 'other')]).toEqual(['begun', true, 0])
  })

  test('make content no oftener than so many times in a minute, and so many in an hour', () => {
    for (let each = 0; each < 60; each++, at += 1_000) expect(write()).toBe(0)
    const narrow = { ...limits, contentPerMinuteMax: 50 }
    expect(pace.begin(1, wish('content'), narrow)).toEqual({ kind: 'wait', ms: 10_000 })
    expect(pace.begin(1, wish('content'), { ...limits, contentPerHourMax: 60 })).toEqual({ kind: 'wait', ms: 3_540_000 })
    expect(write(1, 'other')).toBe(0)
  })

  test('are taken up in the order in which they were asked for, past whoever has to wait for longer', () => {
    const narrow = { ...limits, contentPerHourMax: 1 }
    const [late, first, second] = [wish('content'), wish('other'), wish('other')]
    const running = pace.begin(1, wish('content'), narrow)
    const asked = [late, first, second].map(each => pace.begin(1, each, narrow).kind)
    if (running.kind === 'begun') running.ended()
    at = 1_000
    // Who asked last looks first: it is not its turn yet.
    expect([...asked, pace.begin(1, second, narrow).kind, pace.begin(1, first, narrow).kind]).toEqual([
      'wait',
      'wait',
      'wait',
      'wait',
      'begun',
    ])
  })

  test('do not wait for somebody who has gone away', () => {
    const [gone, here] = [wish('other'), wish('other')]
    const running = pace.begin(1, wish('other'), limits)
    for (const each of [gone, here]) pace.begin(1, each, limits)
    if (running.kind === 'begun') running.ended()
    at = 2_500
    expect(pace.begin(1, here, limits).kind).toBe('begun')
  })

  test('leave half of what makes content to results: what anybody can cause uses the other half', () => {
    const narrow = { ...limits, writeGapMs: 0, contentPerHourMax: 4 }
    const kinds = ['courtesy', 'courtesy', 'courtesy', 'content', 'content', 'content'] as const
    const begun = kinds.map(kind => {
      const turn = pace.begin(1, wish(kind), narrow)
      if (turn.kind === 'begun') turn.ended()
      return turn.kind
    })
    expect(begun).toEqual(['begun', 'begun', 'wait', 'begun', 'begun', 'wait'])
  })

  test('are left off for an hour at most, whatever GitHub seems to ask for', () => {
    pace.leaveAlone(1, 365 * 86_400_000)
    expect(write(1, 'other')).toBe(3_600_000)
  })

  test('are left off for as long as GitHub asks, and no others are', () => {
    pace.leaveAlone(1, 30_000)
    pace.leaveAlone(1, 10_000)
    expect([write(1, 'other'), write(2, 'other')]).toEqual([30_000, 0])
    at = 30_000
    expect(write()).toBe(0)
  })
})

describe('a turn', () => {
  const writes = () => ({ pace, limits })
  test('that is stopped while it is waited for writes nothing', async () => {
    write()
    const stop = new AbortController()
    const waiting = inTurn(1, 'content', { writes: writes(), sleep: ms => sleepUnlessStopped(ms, stop.signal) }, async () => 'written')
    stop.abort()
    expect(await waiting).toBe('stopped')
  })

  test('that is too far off is not waited for, and the caller is told how far it is', async () => {
    pace.leaveAlone(1, 600_000)
    const slept: number[] = []
    const sleep = async (ms: number) => {
      slept.push(ms)
      return 'slept' as const
    }
    const error = await inTurn(1, 'content', { writes: writes(), sleep }, async () => 'written').catch((thrown: unknown) => thrown)
    expect([error instanceof GitHubAway && error.waitMs, slept]).toEqual([600_000, []])
  })

  test('is over when its work throws', async () => {
    const sleep = async () => 'stopped' as const
    await inTurn(1, 'other', { writes: writes(), sleep }, () => Promise.reject(new Error('no'))).catch(() => undefined)
    at = 1_000
    expect(write()).toBe(0)
  })
})

describe('at GitHub', () => {
  let simulator: Simulator
  const sentAt: Record<string, number[]> = {}
  beforeEach(async () => {
    simulator = await startSimulator()
    const { github } = simulator
    github.addUser({ login: 'mona' })
    for (const owner of ['octo', 'other']) {
      sentAt[owner] = []
      await github.addRepository({ owner, name: 'parser' })
      await github.openIssue({ repo: `${owner}/parser`, author: 'mona', title: 'a', body: '' })
    }
    github.observe(
      ({ method, params }) => void (method === 'POST' && params['issue_number'] && sentAt[params['owner'] ?? '']?.push(performance.now())),
    )
  })
  afterEach(() => simulator.close())

  function say(owner: string, task: string, gapMs: number) {
    const { github } = simulator
    const app = createGitHubApp({ apiUrl: github.url, appId: String(github.appId), privateKey: github.appPrivateKey, timeoutMs: 2_000 })
    const ports: EffectPorts = {
      record: async () => 'recorded',
      holds: async () => true,
      mint: async request => (await app.mint(request)).token,
      api: token => app.api(token),
      botLogin: async () => (await app.identity()).botLogin,
      git: noGit('nothing is pushed here'),
      markerKey: Buffer.alloc(32, 1),
      sleep: ms => sleepUnlessStopped(ms, new AbortController().signal),
      readBackGapMs: 20,
      writes: { pace, limits: { ...limits, writeGapMs: gapMs } },
    }
    const installationId = [...github.state.installations.values()].find(({ account }) => account.login === owner)?.id ?? 0
    const repositoryId = github.state.repositories.get(`${owner}/parser`)?.id ?? 0
    const intent = { owner, repo: 'parser', repositoryId, installationId, number: 1, since: '2020-01-01T00:00:00Z', body: 'hello' }
    return applyEffect(task, { kind: 'comment', ordinal: 1, intent }, null, ports)
  }

  test('three comments of one installation come one after another, those of another meanwhile', async () => {
    pace = createWritePace()
    const settled = await Promise.all([say('octo', 't_1', 150), say('octo', 't_2', 150), say('octo', 't_3', 150), say('other', 't_4', 150)])
    expect(settled.map(({ kind }) => kind)).toEqual(['settled', 'settled', 'settled', 'settled'])
    const [first = 0, second = 0, third = 0] = sentAt['octo'] ?? []
    expect([second - first >= 150, third - second >= 150]).toEqual([true, true])
    expect((sentAt['other']?.[0] ?? Infinity) < third).toBe(true)
  })

  test('Q67: a secondary limit that one write meets holds up the others of its installation, and no other installation', async () => {
    pace = createWritePace()
    const limited = simulator.github.fail({
      path: /octo.*comments$/,
      method: 'POST',
      fault: { kind: 'secondary-limit', retryAfterSeconds: 1 },
    })
    const first = say('octo', 't_1', 0)
    await vi.waitUntil(() => limited.hits() === 1, { interval: 5, timeout: 20_000 })
    const limitedAt = performance.now()
    await Promise.all([first, say('octo', 't_2', 0), say('other', 't_4', 0)])
    expect((sentAt['octo'] ?? []).map(each => each - limitedAt > 900)).toEqual([true, true])
    expect((sentAt['other']?.[0] ?? Infinity) < (sentAt['octo']?.[0] ?? 0)).toBe(true)
  })
})
