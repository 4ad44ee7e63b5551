import { generateKeyPairSync, sign } from 'node:crypto'
import {
  existsSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { execa } from 'execa'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type NewEvent, publicKeyOf, type TaskAccepted } from '../../domain/index.ts'
import { type EffectProposal, preparedEvent } from '../../effects/index.ts'
import { renderMarker } from '../../effects/marker.ts'
import { createComment, createPull } from '../../github/index.ts'
import { holdOwnerLock } from '../../ledger/index.ts'
import { eraseTaskFiles, type Signer } from '../../worker/index.ts'
import { markStale } from '../../worker/stale-bundles.ts'
import { createSweep } from '../../worker/sweep-leftovers.ts'
import { writeTaskBundle } from '../../worker/write-bundle.ts'
import { openWorker, repo, type WorkerStage } from './open-worker.ts'

let stage: WorkerStage
let accepted: TaskAccepted
beforeEach(async () => {
  stage = await openWorker()
  accepted = await stage.claimed('t_1')
})
afterEach(() => stage.close())

const place = () => ({ owner: 'octo', repo: 'parser', repositoryId: accepted.repository.id, installationId: accepted.installationId ?? 0 })
const since = '2020-01-01T00:00:00Z'
const proposals = {
  first: (): EffectProposal => ({
    kind: 'progress',
    ordinal: 1,
    intent: { ...place(), number: 1, since, body: '**grok fix** — running', commentId: null },
  }),
  push: (): EffectProposal => ({
    kind: 'push',
    ordinal: 1,
    intent: { ...place(), url: accepted.repository.url, branch: 'grok/fix-1', sha: accepted.base.sha, expect: null },
  }),
  pull: (): EffectProposal => ({
    kind: 'pull-request',
    ordinal: 1,
    intent: { ...place(), head: 'grok/fix-1', base: 'main', title: 'x', body: 'y', draft: false },
  }),
  comment: (): EffectProposal => ({ kind: 'comment', ordinal: 1, intent: { ...place(), number: 1, since, body: 'it failed' } }),
}
const prepared = (proposal: EffectProposal, taskId = 't_1') => preparedEvent(taskId, proposal)
const sent = (proposal: EffectProposal, taskId = 't_1'): NewEvent[] => {
  const event = prepared(proposal, taskId)
  return [event, { type: 'effect.dispatched', commandId: 'x', payload: { effectId: event.payload.effectId, try: 1 } }]
}
/** Another effect of the same attempt, from its preparation to its end. */
const settledLate = (): NewEvent[] => {
  const [event, dispatched] = sent(proposals.comment()) as [NewEvent & { type: 'effect.prepared' }, NewEvent]
  const payload = { effectId: event.payload.effectId, state: 'rejected' as const, remote: {}, reason: 'late', foundByReadBack: true }
  return [event, dispatched, { type: 'effect.settled', commandId: 'y', payload }]
}
const ended = (outcome: 'errored' | 'succeeded' | 'cancelled', reason = 'because', delivered?: string): NewEvent => ({
  type: 'task.ended',
  commandId: 'e',
  payload: { outcome, reason, summary: '', ...(delivered === undefined ? {} : { delivered }) },
})
const states = async () => Object.entries((await stage.state('t_1')).effects).map(([id, { state }]) => `${id.slice(4)} ${state}`)
const writes = () =>
  stage.simulator.github
    .requests()
    .filter(({ method, url }) => method !== 'GET' && !url.includes('access_tokens') && !url.includes('upload-pack'))
async function sweepAfterLease(times = 1) {
  stage.clock.now += stage.limits.leaseMs + 1
  const sweep = createSweep(stage.ports)
  for (let run = 0; run < times; run++) {
    await sweep.run()
    stage.clock.now += 60_000
  }
}

describe('effects that a worker left open', () => {
  test('a pull request that is not there is rejected, and none is opened after the end', async () => {
    await stage.append('t_1', 1, ...sent(proposals.push()), ...sent(proposals.pull()), ended('cancelled'))
    await sweepAfterLease()
    expect([await states(), writes()]).toEqual([['push:1 rejected', 'pull-request:1 rejected'], []])
  })
  test('a branch that arrived is found by listing it, and the bundle says so', async () => {
    await stage.append('t_1', 1, ...sent(proposals.push()), ended('errored'))
    await git('refs/heads/grok/fix-1', accepted.base.sha)
    await sweepAfterLease()
    expect(await states()).toEqual(['push:1 confirmed'])
    expect(existsSync(path.join(stage.dataDir, 'tasks/t_1/bundle.json'))).toBe(true)
  })
  test('a pull request from the same branch without our marker is not taken for ours', async () => {
    await git('refs/heads/grok/fix-1', accepted.base.sha)
    await commitOn('grok/fix-1')
    await stage.append('t_1', 1, ...sent(proposals.pull()), ended('errored'))
    const pull = { head: 'grok/fix-1', base: 'main', title: 'x', body: 'no marker', draft: false }
    await createPull(await apiOfApp(), { owner: 'octo', repo: 'parser' }, pull)
    await sweepAfterLease()
    expect(await states()).toEqual(['pull-request:1 rejected'])
  })
  test('one that was never sent is rejected without asking GitHub', async () => {
    await stage.append('t_1', 1, prepared(proposals.push()), ended('cancelled'))
    await sweepAfterLease()
    expect(await states()).toEqual(['push:1 rejected'])
    expect(stage.simulator.github.requests().filter(request => request.url.includes('grok'))).toEqual([])
  })
  test('nothing of a task that has not ended is touched: its next attempt does that', async () => {
    await stage.append('t_1', 1, ...sent(proposals.push()))
    await sweepAfterLease()
    expect(await states()).toEqual(['push:1 dispatched'])
  })
  test('nothing is touched while whoever ended the task may be at it', async () => {
    await stage.append('t_1', 1, ...sent(proposals.comment()), ended('errored'))
    await createSweep(stage.ports).run()
    expect(await states()).toEqual(['comment:1 dispatched'])
  })
  test('what nobody lets us look for becomes unknown, and is settled when it can be read again', async () => {
    await stage.append('t_1', 1, ...sent(proposals.pull()), ended('errored'))
    stage.simulator.github.fail({ method: 'GET', path: /\/pulls$/, fault: { kind: 'status', status: 403 }, times: 2 })
    await sweepAfterLease()
    expect(await states()).toEqual(['pull-request:1 unknown'])
    await sweepAfterLease(2)
    expect(await states()).toEqual(['pull-request:1 rejected'])
  })
  test('while GitHub is away it is asked after growing waits only', async () => {
    await stage.append('t_1', 1, ...sent(proposals.pull()), ended('errored'))
    const away = stage.simulator.github.fail({ method: 'POST', path: /access_tokens$/, fault: { kind: 'status', status: 500 }, times: 99 })
    stage.clock.now += stage.limits.leaseMs + 1
    const sweep = createSweep(stage.ports)
    for (let run = 0; run < 40; run++, stage.clock.now += 500) await sweep.run()
    expect(away.hits()).toBe(5)
    expect(await states()).toEqual(['pull-request:1 dispatched'])
  })
})

describe('the last words', () => {
  test('that were prepared are said, once, by whichever process comes first', async () => {
    await stage.append('t_1', 1, prepared(proposals.comment()), ended('errored'))
    stage.clock.now += stage.limits.leaseMs + 1
    await Promise.all([createSweep(stage.ports).run(), createSweep(stage.ports).run()])
    stage.clock.now += 600_000
    await createSweep(stage.ports).run()
    expect([stage.ours(), await states()]).toEqual([['it failed'], ['comment:1 confirmed']])
  })
  test('that were sent and are there are not said again', async () => {
    await stage.append('t_1', 1, ...sent(proposals.comment()), ended('errored'))
    await postWithMarker('comment', 'comment-1', 'it failed')
    await sweepAfterLease()
    expect([stage.ours(), await states()]).toEqual([['it failed'], ['comment:1 confirmed']])
  })
  test('are written into a progress comment whose answer was lost, so that it does not say "running" for ever', async () => {
    await stage.append(
      't_1',
      1,
      ...sent(proposals.first()),
      // Words of a model may hold what looks like a separator of ours.
      ended('cancelled', 'cancelled by @mona; she was in a hurry', 'it is not known whether the branch was pushed'),
    )
    await postWithMarker('progress', 'progress-1', '**grok fix** — running')
    await sweepAfterLease()
    expect(stage.ours()).toEqual(['**grok fix** — cancelled by `@mona`; she was in a hurry after 0 s. Nothing was pushed.'])
    expect(await states()).toEqual(['progress:1 confirmed', 'progress:2 confirmed'])
  })
  test('are a comment of their own when the progress comment of a bad end is not there', async () => {
    await stage.append('t_1', 1, ...sent(proposals.first()), ended('errored', 'the model gave no answer'))
    await sweepAfterLease()
    expect(stage.ours()).toEqual([expect.stringContaining('The model gave no answer')])
  })
  test('are none for a good end without one: the pull request is the message', async () => {
    await stage.append('t_1', 1, ...sent(proposals.first()), ended('succeeded'))
    await sweepAfterLease()
    expect([stage.ours(), await states()]).toEqual([[], ['progress:1 rejected']])
  })
})

describe('last words that were said before it was known whether the pull request was opened', () => {
  const settled = (proposal: EffectProposal, state: 'confirmed' | 'unknown', remote = {}): NewEvent[] => {
    const events = sent(proposal)
    const { effectId } = prepared(proposal).payload
    return [
      ...events,
      { type: 'effect.settled', commandId: 's', payload: { effectId, state, remote, reason: 'who knows', foundByReadBack: true } },
    ]
  }
  const endedUnknown = ended('errored', 'it is not known whether the delivery arrived')
  /** As the worker left it, with a pull request that was opened, or not. */
  async function leaveBehind(words: 'edited' | 'posted', opened: boolean) {
    const { first, pull, comment } = proposals
    await git('refs/heads/grok/fix-1', accepted.base.sha)
    await commitOn('grok/fix-1')
    if (opened) {
      const body = `${renderMarker(stage.ports.markerKey, { kind: 'pr', task: 't_1', key: 'pull-request-1' }, 'octo/parser')}\ny`
      await createPull(
        await apiOfApp(),
        { owner: 'octo', repo: 'parser' },
        { head: 'grok/fix-1', base: 'main', title: 'x', body, draft: false },
      )
    }
    const posted = await postWithMarker(
      words === 'edited' ? 'progress' : 'comment',
      `${words === 'edited' ? 'progress' : 'comment'}-1`,
      'it failed',
    )
    const last: EffectProposal = {
      ...first(),
      ordinal: 2,
      intent: { ...first().intent, body: 'it failed', commentId: posted },
    } as EffectProposal
    const said =
      words === 'edited'
        ? [...settled(first(), 'confirmed', { id: posted }), ...settled(pull(), 'unknown'), ...settled(last, 'confirmed')]
        : [...settled(pull(), 'unknown'), ...settled(comment(), 'confirmed')]
    await stage.append('t_1', 1, ...said, endedUnknown)
  }
  const found = 'This was found out after the end: a reason above says what was known then.'
  test('are written anew into their comment when it was', async () => {
    await leaveBehind('edited', true)
    await sweepAfterLease(3)
    expect(await states()).toEqual(['progress:1 confirmed', 'pull-request:1 confirmed', 'progress:2 confirmed', 'progress:3 confirmed'])
    expect(stage.ours()).toEqual([
      expect.stringMatching(new RegExp(`^\\*\\*grok fix\\*\\* — failed, .* Delivered as #2\\..*${found}$`, 's')),
    ])
  })
  test('are followed by others where they were a comment of their own', async () => {
    await leaveBehind('posted', true)
    await sweepAfterLease(3)
    expect(await states()).toEqual(['pull-request:1 confirmed', 'comment:1 confirmed', 'comment:2 confirmed'])
    expect(stage.ours()).toEqual(['it failed', expect.stringContaining('Delivered as #2.')])
  })
  test('also when it was not', async () => {
    await leaveBehind('edited', false)
    await sweepAfterLease(3)
    expect(stage.ours()).toEqual([expect.stringContaining('Nothing was pushed.')])
  })
  test('stay while that is not known', async () => {
    await leaveBehind('edited', true)
    stage.simulator.github.fail({ method: 'GET', path: /\/pulls$/, fault: { kind: 'status', status: 403 }, times: 99 })
    await sweepAfterLease(3)
    expect([stage.ours(), await states()]).toEqual([
      ['it failed'],
      ['progress:1 confirmed', 'pull-request:1 unknown', 'progress:2 confirmed'],
    ])
  })
})

test('a sweep that waits between two looks is left at once when the process goes', async () => {
  stage.limits.readBackGapMs = 60_000
  await stage.append('t_1', 1, ...sent(proposals.pull()), ended('errored'))
  stage.clock.now += stage.limits.leaseMs + 1
  const sweep = createSweep(stage.ports)
  const run = sweep.run()
  await new Promise(resolve => setTimeout(resolve, 300))
  const startedAt = Date.now()
  await sweep.stop()
  await run
  expect(Date.now() - startedAt).toBeLessThan(1_000)
  expect(await states()).toEqual(['pull-request:1 dispatched'])
})

test('a sweep that is told to go begins with no other task', async () => {
  for (const id of ['t_2', 't_3']) await stage.claimed(id)
  for (const id of ['t_1', 't_2', 't_3']) await stage.append(id, 1, ...sent(proposals.pull(), id), ended('errored'))
  const lists = stage.simulator.github.fail({ method: 'GET', path: /\/pulls$/, fault: { kind: 'delay', ms: 500 }, times: 9 })
  stage.clock.now += stage.limits.leaseMs + 1
  const sweep = createSweep(stage.ports)
  const run = sweep.run()
  await vi.waitFor(() => expect(lists.hits()).toBe(1), { timeout: 5_000 })
  await sweep.stop()
  await run
  expect(lists.hits()).toBe(1)
})

test('effects that must be looked for twice share one gap, however many tasks have one', { timeout: 30_000 }, async () => {
  const ids = Array.from({ length: 10 }, (_, index) => `t_${index + 1}`)
  for (const id of ids.slice(1)) await stage.claimed(id)
  for (const id of ids) await stage.append(id, 1, ...sent(proposals.pull(), id), ended('errored'))
  stage.limits.readBackGapMs = 3_000
  const startedAt = Date.now()
  await sweepAfterLease()
  // One after another they took thirty seconds.
  expect(Date.now() - startedAt).toBeLessThan(10_000)
  const all = await Promise.all(ids.map(async id => Object.values((await stage.state(id)).effects).map(({ state }) => state)))
  expect(all).toEqual(ids.map(() => ['rejected']))
})

/** As whoever ends a task does it: announced, then recorded. Then the process dies. */
async function endAndDie(id: string, outcome: 'succeeded' | 'errored' = 'succeeded') {
  await markStale(path.join(stage.dataDir, 'tasks', id), ((await stage.ledger.task(id))?.lastSeq ?? 0) + 1)
  await stage.append(id, 1, ended(outcome))
}

describe('bundles', () => {
  const folder = (id: string) => path.join(stage.dataDir, 'tasks', id)
  const bundle = (id: string) => path.join(folder(id), 'bundle.json')
  const headOf = (id: string) => (existsSync(bundle(id)) ? JSON.parse(readFileSync(bundle(id), 'utf8')).manifest.headHash : null)
  const lastHash = async (id: string) => (await stage.ledger.readEvents(id)).at(-1)?.hash
  const marks = () => readdirSync(path.join(stage.dataDir, 'tasks')).filter(name => name.endsWith('.stale'))

  test('of a sweep that was killed between an effect and its bundle are made again', async () => {
    await stage.append('t_1', 1, ...sent(proposals.pull()), ended('errored'))
    await sweepAfterLease()
    expect([headOf('t_1'), marks()]).toEqual([await lastHash('t_1'), []])
    // As the dead sweep left it: announced, an effect settled, and the bundle as it was before that.
    const events = settledLate()
    await markStale(folder('t_1'), ((await stage.ledger.task('t_1'))?.lastSeq ?? 0) + events.length)
    await stage.append('t_1', 1, ...events)
    expect(headOf('t_1')).not.toBe(await lastHash('t_1'))
    await sweepAfterLease()
    expect([headOf('t_1'), marks()]).toEqual([await lastHash('t_1'), []])
  })
  test('of however old a task are made, also when there are more that can not be made than one sweep tries', async () => {
    await endAndDie('t_1')
    const ids = Array.from({ length: 105 }, (_, index) => `t_0${100 + index}`)
    for (const id of ids) {
      await stage.claimed(id)
      await endAndDie(id)
      writeFileSync(folder(id), 'a file where a folder should be')
    }
    await sweepAfterLease(2)
    expect(headOf('t_1')).toBe(await lastHash('t_1'))
    expect(marks()).toHaveLength(ids.length)
  })
  test('of a task that has not ended are left to its end, and what was announced and never came is forgotten', async () => {
    await markStale(folder('t_1'), 99)
    await sweepAfterLease()
    expect([headOf('t_1'), marks()]).toEqual([null, ['t_1.99.stale']])
    await endAndDie('t_1')
    await sweepAfterLease()
    expect([headOf('t_1'), marks()]).toEqual([await lastHash('t_1'), []])
  })

  /** Another process that has read the record and is about to write it; it goes on when it is told to. */
  function slowWriter() {
    const [reached, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const { privateKey, publicKey } = generateKeyPairSync('ed25519')
    const signer: Signer = {
      keyId: publicKeyOf(publicKey).keyId,
      publicKeyPem: publicKey.export({ format: 'pem', type: 'spki' }).toString(),
      async sign(bytes) {
        reached.resolve()
        await release.promise
        return sign(null, bytes, privateKey)
      },
    }
    const done = writeTaskBundle('t_1', folder('t_1'), { ...stage.ports, signer })
    return {
      reached: reached.promise,
      async finish() {
        release.resolve()
        await done
      },
    }
  }
  test('that a slower process writes over newer ones hold what the newer ones held', async () => {
    await stage.append('t_1', 1, ended('errored'))
    const slow = slowWriter()
    await slow.reached
    const events = settledLate()
    await markStale(folder('t_1'), ((await stage.ledger.task('t_1'))?.lastSeq ?? 0) + events.length)
    await stage.append('t_1', 1, ...events)
    await writeTaskBundle('t_1', folder('t_1'), stage.ports)
    expect([headOf('t_1'), marks()]).toEqual([await lastHash('t_1'), []])
    await slow.finish()
    expect([headOf('t_1'), marks()]).toEqual([await lastHash('t_1'), []])
  })
  test('that a slower process writes do not bring back what was erased meanwhile', async () => {
    await stage.append('t_1', 1, ended('errored'))
    const slow = slowWriter()
    await slow.reached
    await writeTaskBundle('t_1', folder('t_1'), stage.ports)
    const erased = () => JSON.parse(readFileSync(bundle('t_1'), 'utf8')).manifest.erased
    expect(erased()).toBe(null)
    await stage.ledger.eraseTask('t_1', 'mona')
    await eraseTaskFiles('t_1', folder('t_1'), stage.ports)
    await slow.finish()
    expect(erased()).toEqual({ at: expect.any(Number) })
  })
})

test('what a killed process left half made of the shared files goes after an hour, and nothing else', async () => {
  const names = ['new-0', 'new-1', 'etc-0']
  for (const name of names) mkdirSync(path.join(stage.dataDir, 'sandbox', name), { recursive: true })
  const old = Date.now() / 1000 - 7_200
  for (const name of ['new-0', 'etc-0']) utimesSync(path.join(stage.dataDir, 'sandbox', name), old, old)
  await sweepAfterLease()
  expect(names.filter(name => existsSync(path.join(stage.dataDir, 'sandbox', name)))).toEqual(['new-1', 'etc-0'])
})

test("the folder in which a killed run read a repository goes after an hour, and never anybody else's", async () => {
  const folders = ['old', 'new', 'link'].map(name => path.join(tmpdir(), `grokbot-read-${name}-${process.pid}`))
  const [old = '', fresh = '', link = ''] = folders
  for (const folder of [old, fresh]) mkdirSync(folder)
  symlinkSync(stage.dataDir, link)
  const aDayAgo = Date.now() / 1000 - 86_400
  utimesSync(old, aDayAgo, aDayAgo)
  lutimesSync(link, aDayAgo, aDayAgo)
  stage.clock.now = Date.now()
  await sweepAfterLease()
  expect(folders.map(folder => lstatSync(folder, { throwIfNoEntry: false }) !== undefined)).toEqual([false, true, true])
  expect(existsSync(stage.dataDir)).toBe(true)
  for (const folder of [fresh, link]) rmSync(folder, { recursive: true, force: true })
})

describe('folders', () => {
  const folder = (...names: string[]) => {
    const full = path.join(stage.dataDir, ...names)
    mkdirSync(full, { recursive: true })
    writeFileSync(path.join(full, 'file'), 'x')
    return full
  }
  test('the run of an ended task goes at once, its store after its time; patch and bundle stay', async () => {
    const [run, workspace, store, kept] = [
      folder('runs', 't_1', '1'),
      folder('git/tasks/t_1/workspace-1'),
      folder('git/tasks/t_1/store.git'),
      folder('tasks/t_1'),
    ]
    const parts = ['bundle.json.1.1.part', 'bundle.json.2.1.part'].map(name => path.join(kept, name))
    for (const part of parts) writeFileSync(part, '{')
    utimesSync(parts[0] as string, 1, 1)
    utimesSync(parts[1] as string, Date.now() / 1000 + 3_600, Date.now() / 1000 + 3_600)
    await endAndDie('t_1')
    const there = () => [run, workspace, store, kept].map(existsSync)
    await sweepAfterLease()
    expect([there(), parts.map(existsSync)]).toEqual([
      [false, false, true, true],
      [false, true],
    ])
    stage.clock.now += stage.limits.storeKeepMs
    await sweepAfterLease()
    expect(there()).toEqual([false, false, false, true])
    expect(existsSync(path.join(stage.dataDir, 'tasks/t_1/bundle.json'))).toBe(true)
  })
  test('of a task somebody works on stay, however old; when its process has died, what the next attempt makes anew goes', async () => {
    const folders = [folder('runs', 't_1', '1'), folder('git/tasks/t_1/workspace-1'), folder('git/tasks/t_1/store.git')]
    stage.clock.now += stage.limits.storeKeepMs
    const lock = holdOwnerLock(stage.dataDir, stage.ports.owner)
    await sweepAfterLease()
    expect(folders.map(existsSync)).toEqual([true, true, true])
    lock.release()
    const next = folder('runs', 't_1', '2')
    await sweepAfterLease()
    expect([...folders, next].map(existsSync)).toEqual([false, true, true, true])
  })
  test('one part that fails keeps no other from its turn', async () => {
    const run = folder('runs', 't_1', '1')
    await stage.append('t_1', 1, prepared(proposals.push()), ended('succeeded'))
    // A file where the folder of the bundle must be.
    writeFileSync(path.join(stage.dataDir, 'tasks'), 'no folder')
    await sweepAfterLease()
    expect(existsSync(run)).toBe(false)
    expect(await states()).toEqual(['push:1 rejected'])
  })
})

async function apiOfApp() {
  const { github } = stage.ports
  if (github === null) throw new Error('no App')
  const { installationId, repositoryId } = place()
  const permissions = { issues: 'write', pull_requests: 'write', contents: 'write' } as const
  return github.api((await github.mint({ installationId, repositoryId, permissions })).token)
}

async function postWithMarker(kind: string, key: string, body: string) {
  const marker = renderMarker(stage.ports.markerKey, { kind, task: 't_1', key }, 'octo/parser#1')
  const { id } = await createComment(await apiOfApp(), { owner: 'octo', repo: 'parser' }, 1, `${marker}\n${body}`)
  return id
}

async function git(ref: string, sha: string) {
  await execa('git', ['update-ref', ref, sha], { cwd: stage.simulator.github.state.repositories.get(repo)?.folder ?? '' })
}

/** A pull request needs a commit that its base does not have. */
async function commitOn(branch: string) {
  const cwd = stage.simulator.github.state.repositories.get(repo)?.folder ?? ''
  const author = ['-c', 'user.name=x', '-c', 'user.email=x@example.org']
  const { stdout } = await execa('git', [...author, 'commit-tree', `${branch}^{tree}`, '-p', branch, '-m', 'x'], { cwd })
  await git(`refs/heads/${branch}`, stdout)
}
