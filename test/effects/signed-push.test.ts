import { execFileSync } from 'node:child_process'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { NewEvent } from '../../domain/index.ts'
import { applyEffect, type EffectPorts, type EffectProposal, noGit, sleepUnlessStopped } from '../../effects/index.ts'
import { createGitHubApp, createWritePace } from '../../github/index.ts'
import { type Simulator, startSimulator } from '../../simulator/index.ts'

const repo = 'octo/parser'
const change = { 'add.sh': 'echo 3\n' }
const message = 'Add\n\nGrokbot-Task: t_01\n'
let simulator: Simulator
let events: NewEvent[]
let ports: EffectPorts
let main: string
let tree: string
let proposal: EffectProposal & { kind: 'push' }

beforeEach(async () => {
  simulator = await startSimulator()
  const { github } = simulator
  github.addUser({ login: 'mona' })
  const { id } = await github.addRepository({ owner: 'octo', name: 'parser' })
  main = await head('main')
  await github.commit({ repo, branch: 'feature', from: 'main', files: { old: '1\n' }, author: 'mona' })
  await github.commit({ repo, branch: 'wanted', from: 'feature', files: change, author: 'mona' })
  tree = git('rev-parse', 'wanted^{tree}')
  git('update-ref', '-d', 'refs/heads/wanted')
  github.addRuleset(repo, { branches: ['*'], rules: ['required_signatures'] })
  const app = createGitHubApp({ apiUrl: github.url, appId: String(github.appId), privateKey: github.appPrivateKey, timeoutMs: 2_000 })
  events = []
  ports = {
    record: async batch => {
      events.push(...batch)
      return 'recorded'
    },
    holds: async () => true,
    mint: async request => (await app.mint(request)).token,
    api: token => app.api(token),
    botLogin: async () => (await app.identity()).botLogin,
    git: {
      ...noGit('it is made by the API'),
      readRef: async ({ branch }) => ({ kind: 'read', sha: await head(branch) }),
      readChange: async ({ signed }) => {
        const entries = Object.entries(change).map(([path, text]) => ({ path, mode: '100644', content: Buffer.from(text) }))
        return { kind: 'read', baseTree: git('rev-parse', `${signed?.parent}^{tree}`), entries }
      },
    },
    markerKey: Buffer.alloc(32, 1),
    sleep: ms => sleepUnlessStopped(Math.min(ms, 50), new AbortController().signal),
    readBackGapMs: 20,
    writes: { pace: createWritePace(), limits: { writeGapMs: 0, contentPerMinuteMax: 80, contentPerHourMax: 500 } },
  }
  const installationId = [...github.state.installations.values()][0]?.id ?? 0
  const place = { owner: 'octo', repo: 'parser', repositoryId: Number(id), installationId }
  const parent = await head('feature')
  const intent = { ...place, url: '', branch: 'feature', sha: main, expect: parent, signed: { tree, parent, message } }
  proposal = { kind: 'push', ordinal: 3, intent }
})
afterEach(() => simulator.close())

const apply = () => applyEffect('t_01', proposal, null, ports)
const head = async (branch: string) => (await simulator.github.refs(repo))[`refs/heads/${branch}`] ?? ''
const git = (...argv: string[]) => {
  const folder = simulator.github.state.repositories.get(repo)?.folder ?? ''
  return execFileSync('git', ['--git-dir', folder, '-c', 'safe.directory=*', ...argv], { encoding: 'utf8' }).trim()
}
const onBranch = () => git('log', '--format=%T %P %s', 'main..feature').split('\n')
const ours = () => `${tree} ${proposal.intent.expect} Add`
const sends = () => events.filter(({ type }) => type === 'effect.dispatched').length

test('a commit that GitHub makes and signs is put onto a branch that takes no other', async () => {
  expect(await apply()).toEqual({
    kind: 'settled',
    state: 'confirmed',
    remote: { branch: 'feature', sha: await head('feature') },
    reason: '',
  })
  expect([onBranch()[0], simulator.github.state.repositories.get(repo)?.signedCommits.has(await head('feature'))]).toEqual([ours(), true])
})

test('one whose branch was moved and whose answer is lost is found, also under what somebody pushed on top of it', async () => {
  simulator.github.fail({ method: 'PATCH', path: /git\/refs/, fault: { kind: 'cut', when: 'after' } })
  const first = ports.git.readRef
  ports.git.readRef = async (intent, token) => {
    const read = await first(intent, token)
    if (sends() === 1 && read.kind === 'read' && read.sha !== proposal.intent.expect && onBranch().length === 2)
      await simulator.github.commit({ repo, branch: 'feature', files: { later: '1\n' }, author: 'mona' })
    return await first(intent, token)
  }
  const settled = await apply()
  expect([onBranch().length, onBranch()[1], sends()]).toEqual([3, ours(), 1])
  expect(settled).toMatchObject({ state: 'confirmed', remote: { sha: git('rev-parse', 'feature^') } })
})

test('one that was made and whose branch was not moved is made again, and the branch gets one of them', async () => {
  const made: unknown[] = []
  simulator.github.observe(({ method, path }) => void (method === 'POST' && path.endsWith('/git/commits') && made.push(path)))
  simulator.github.fail({ method: 'PATCH', path: /git\/refs/, fault: { kind: 'cut', when: 'before' } })
  expect(await apply()).toMatchObject({ state: 'confirmed' })
  expect([made.length, onBranch()]).toEqual([
    2,
    [ours(), `${git('rev-parse', 'feature~1^{tree}')} ${main} ${git('log', '-1', '--format=%s', 'feature~1')}`],
  ])
})

test('a branch that moves between is left alone and said to have moved', async () => {
  let theirs = ''
  simulator.github.observe(({ method, path }) => {
    if (method !== 'POST' || !path.endsWith('/git/commits')) return
    theirs = git('commit-tree', `${main}^{tree}`, '-p', 'feature', '-m', 'theirs')
    git('update-ref', 'refs/heads/feature', theirs)
  })
  expect(await apply()).toMatchObject({ state: 'rejected', remote: { branch: 'feature', sha: theirs } })
  expect(await head('feature')).toBe(theirs)
})

test('a branch that is not where it was gets nothing, not even objects', async () => {
  const theirs = await simulator.github.commit({ repo, branch: 'side', from: 'feature', files: { x: '1\n' }, author: 'mona' })
  git('update-ref', 'refs/heads/feature', theirs)
  const asked: string[] = []
  simulator.github.observe(({ method, path }) => void (path.includes('/git/') && asked.push(method)))
  expect(await apply()).toMatchObject({ state: 'rejected', remote: { sha: theirs } })
  expect(asked).toEqual([])
})

test('an attempt that loses its task while the objects are made moves no branch', async () => {
  const before = await head('feature')
  let isMade = false
  simulator.github.observe(({ method, path }) => {
    isMade ||= method === 'POST' && path.endsWith('/git/commits')
  })
  ports.holds = async () => !isMade
  expect([await apply(), isMade, await head('feature')]).toEqual([{ kind: 'fenced' }, true, before])
})

describe('an attempt that loses its task', () => {
  let isLost: boolean
  const written: string[] = []
  beforeEach(() => {
    isLost = false
    written.length = 0
    ports.holds = async () => !isLost
    simulator.github.observe(({ method, path }) => {
      const what = /\/git\/(blobs|trees|commits|refs)/.exec(path)?.[1]
      if (method !== 'GET' && what) written.push(what)
    })
  })

  test.each([
    { what: 'a blob', turn: 1, content: '\0', before: [] },
    { what: 'the tree', turn: 1, content: 'echo 3\n', before: [] },
    { what: 'the commit', turn: 2, content: 'echo 3\n', before: ['trees'] },
    { what: 'the move of the branch', turn: 3, content: 'echo 3\n', before: ['trees', 'commits'] },
  ])('while it waits for the turn of $what writes nothing more, and gives the turn back', async ({ turn, content, before }) => {
    const at = await head('feature')
    const read = ports.git.readChange
    ports.git.readChange = async intent => {
      const whole = await read(intent)
      const entries = [{ path: 'add.sh', mode: '100644', content: Buffer.from(content) }]
      return whole.kind === 'refused' ? whole : { ...whole, entries }
    }
    const { pace, limits } = ports.writes
    let turns = 0
    const begin: typeof pace.begin = (...asked) => {
      turns += 1
      if (turns !== turn) return pace.begin(...asked)
      isLost = true
      return { kind: 'wait', ms: 1 }
    }
    ports.writes = { limits, pace: { ...pace, begin } }
    expect([await apply(), written, await head('feature')]).toEqual([{ kind: 'fenced' }, before, at])
    expect(pace.begin(proposal.intent.installationId, { kind: 'other', ticket: Symbol('next') }, limits).kind).toBe('begun')
  })

  test('while it looks at the branch a last time does not move it', async () => {
    const at = await head('feature')
    const read = ports.git.readRef
    ports.git.readRef = async (intent, token) => {
      isLost = written.includes('commits')
      return await read(intent, token)
    }
    expect([await apply(), written, await head('feature')]).toEqual([{ kind: 'fenced' }, ['trees', 'commits'], at])
  })
})

test('commits that somebody takes off the branch meanwhile do not come back', async () => {
  simulator.github.observe(({ method, path }) => {
    if (method === 'POST' && path.endsWith('/git/commits')) git('update-ref', 'refs/heads/feature', main)
  })
  expect(await apply()).toMatchObject({ state: 'rejected', remote: { branch: 'feature', sha: main } })
  expect(await head('feature')).toBe(main)
})

test('a stop in the middle makes no more objects and moves no branch', async () => {
  const before = await head('feature')
  const stop = new AbortController()
  const asked: string[] = []
  simulator.github.observe(({ method, path }) => {
    if (method !== 'POST' || !path.includes('/git/')) return
    asked.push(path.split('/').at(-1) ?? '')
    stop.abort()
  })
  ports.sleep = ms => sleepUnlessStopped(Math.min(ms, 50), stop.signal)
  expect([await apply(), asked, await head('feature')]).toEqual([{ kind: 'stopped', sent: true }, ['trees'], before])
})

test('another rule of the branch refuses it in its own words', async () => {
  simulator.github.addRuleset(repo, { branches: ['feature'], rules: ['pull_request'] })
  const before = await head('feature')
  const { remote } = (await apply()) as { remote: Record<string, unknown> }
  const said = expect.stringMatching(/^Repository rule violations found Changes must be made through a pull request\./)
  expect(remote).toEqual({ branch: 'feature', sha: before, refusal: 'protected', said })
})

test('a tree that is not ours to the byte never reaches a branch', async () => {
  const read = ports.git.readChange
  ports.git.readChange = async intent => {
    const whole = await read(intent)
    return whole.kind === 'refused' ? whole : { ...whole, entries: whole.entries.map(entry => ({ ...entry, mode: '100755' })) }
  }
  const before = await head('feature')
  expect(await apply()).toMatchObject({
    state: 'rejected',
    reason: 'unsigned: the tree that GitHub made of the change is another one',
  })
  expect(await head('feature')).toBe(before)
})

test('a change that is too much for the API is said to be', async () => {
  ports.git.readChange = async () => ({ kind: 'refused', reason: 'it has 201 files, more than 200' })
  expect(await apply()).toMatchObject({
    state: 'rejected',
    remote: {
      ...{ branch: 'feature', sha: await head('feature'), refusal: 'unsigned', said: '' },
      note: 'the change can not be made by the API: it has 201 files, more than 200',
    },
  })
})
