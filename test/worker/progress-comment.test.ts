import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { foldTask } from '../../domain/index.ts'
import { applyEffect, type EffectProposal, noGit, preparedEvent } from '../../effects/index.ts'
import type { EffectTask } from '../../worker/effect-ports.ts'
import { threadOf } from '../../worker/last-words.ts'
import { type ProgressComment, startProgressComment } from '../../worker/progress-comment.ts'
import { openTaskLog } from '../../worker/task-log.ts'
import { openWorker, type WorkerStage } from './open-worker.ts'

let stage: WorkerStage
afterEach(() => stage.close())

type Opened = { task: EffectTask; stop: AbortController; comment(): ProgressComment }

/** One claimed task whose progress comment is due at once and edited every 100 ms. */
async function open(options: { aheadMs?: number; askedAt?: string } = {}): Promise<Opened> {
  stage = await openWorker(options.aheadMs)
  Object.assign(stage.limits, { progressAfterMs: 0, progressGapMs: 100, outageWaitMs: 20_000 })
  const accepted = await stage.claimed('t_1', options.askedAt)
  const log = await openTaskLog(stage.ledger, { taskId: 't_1', attempt: 1, actor: 'worker-1', now: stage.ports.now })
  const stop = new AbortController()
  const task = {
    id: 't_1',
    attempt: 1,
    accepted,
    log,
    ports: stage.ports,
    settings: await stage.ports.settings(),
    stop: stop.signal,
  }
  return {
    task,
    stop,
    comment() {
      const comment = startProgressComment(task)
      onTestFinished(() => comment.stop())
      return comment
    },
  }
}

const states = async () =>
  Object.entries(foldTask(await stage.ledger.readEvents('t_1')).effects).map(([id, { state }]) => `${id.slice(4)} ${state}`)
const commenting = { method: 'POST', path: /\/issues\/1\/comments$/ } as const
const failed = { outcome: 'errored', reason: 'the model is away', summary: '' } as const

async function until(holds: () => boolean | Promise<boolean>) {
  for (let look = 0; look < 200 && !(await holds()); look++) await sleep(20)
  expect(await holds()).toBe(true)
}

test('is made once, edited while the task runs, and ends with the last words', async () => {
  const { comment } = await open()
  const progress = comment()
  await until(() => stage.ours().length === 1)
  progress.doing('check `npm test`')
  await until(() => (stage.ours()[0] ?? '').includes('npm test'))
  await progress.finish({ outcome: 'succeeded', reason: '', summary: '' })
  expect(stage.ours()).toEqual([expect.stringContaining('**grok fix** — done in')])
  expect(await states()).toEqual(['progress:1 confirmed', 'progress:2 confirmed'])
  const before = stage.simulator.github.requests().length
  await sleep(250)
  expect(stage.simulator.github.requests().length).toBe(before)
})

test('a task that was over before it was due has none, and a bad end has one of its own', async () => {
  const { comment } = await open()
  stage.limits.progressAfterMs = 60_000
  await comment().finish(failed)
  expect([stage.ours(), await states()]).toEqual([[expect.stringContaining('The model is away')], ['comment:1 confirmed']])
})

test('an attempt that follows a dead one goes on in its comment', async () => {
  const { comment } = await open()
  await Promise.all([until(() => stage.ours().length === 1), comment()])
  await until(async () => (await states())[0] === 'progress:1 confirmed')
  const next = comment()
  await sleep(300)
  await next.finish(failed)
  expect(stage.ours().length).toBe(1)
})

test('a bad end is an edit while the comment is fresh, and a comment of its own once it is not', async () => {
  const { comment } = await open()
  const progress = comment()
  await until(() => stage.ours().length === 1)
  await until(async () => (await states())[0] === 'progress:1 confirmed')
  stage.clock.now += 600_001
  const claim = { taskId: 't_1', attempt: 1, owner: 'worker-1', leaseUntil: 0, recovers: null, exhausted: false }
  await stage.ledger.renewLease(claim, stage.clock.now + 60_000)
  await progress.finish(failed)
  expect([stage.ours().length, await states()]).toEqual([2, ['progress:1 confirmed', 'comment:1 confirmed', 'progress:2 confirmed']])
  expect(stage.ours().every(body => body.includes('The model is away'))).toBe(true)
})

describe('of a task that had to wait', () => {
  const queue = async () => {
    const opened = await open()
    const intent = {
      ...threadOf({ accepted: { ...opened.task.accepted, actor: '', at: stage.clock.now } }),
      commentId: null,
      body: 'queued',
    }
    const proposal = { kind: 'progress', ordinal: 1, intent } as const
    await stage.append('t_1', 0, preparedEvent('t_1', proposal))
    return { ...opened, send: () => sendAsApp(proposal) }
  }
  /** What the app's outbox does. */
  async function sendAsApp(proposal: EffectProposal & { kind: 'progress' }) {
    const app = stage.ports.github
    if (app === null) throw new Error('there is an App')
    const known = (await stage.state('t_1')).effects['t_1:progress:1'] ?? null
    await applyEffect('t_1', proposal, known, {
      record: async events => {
        await stage.append('t_1', 0, ...events)
        return 'recorded'
      },
      holds: async () => true,
      mint: async request => (await app.mint(request)).token,
      api: token => app.api(token),
      botLogin: async () => (await app.identity()).botLogin,
      git: noGit('the app pushes nothing'),
      markerKey: stage.ports.markerKey,
      sleep: async () => 'slept',
      readBackGapMs: 0,
      writes: { pace: app.pace, limits: stage.limits },
    })
  }

  test('the comment that says so is edited, and none is made beside it', async () => {
    const { comment, send } = await queue()
    const progress = comment()
    await sleep(250)
    expect([stage.ours(), await states()]).toEqual([[], ['progress:1 prepared']])
    await send()
    await until(() => (stage.ours()[0] ?? '').includes('— running'))
    await progress.finish({ outcome: 'succeeded', reason: '', summary: '' })
    expect([stage.ours().length, await states()]).toEqual([1, ['progress:1 confirmed', 'progress:2 confirmed']])
  })

  test('an end that comes before that comment is there waits a moment for it', async () => {
    const { comment, send } = await queue()
    stage.limits.progressAfterMs = 60_000
    const finished = comment().finish(failed)
    await sleep(100)
    await Promise.all([send(), finished])
    expect([stage.ours(), await states()]).toEqual([
      [expect.stringContaining('The model is away')],
      ['progress:1 confirmed', 'progress:2 confirmed'],
    ])
  })
})

describe('when GitHub is away', () => {
  test('the end does not wait for the comment that is being tried', async () => {
    const { comment } = await open()
    stage.simulator.github.fail({ method: 'POST', path: /access_tokens$/, fault: { kind: 'status', status: 500 } })
    const progress = comment()
    await sleep(300)
    const startedAt = Date.now()
    await progress.finish(failed)
    expect(Date.now() - startedAt).toBeLessThan(3_000)
    expect([stage.ours().length, await states()]).toEqual([1, ['progress:1 rejected', 'comment:1 confirmed']])
  })
  test('after a stop nothing is waited for: the last words stay open for the sweep', async () => {
    const { comment, stop } = await open()
    stage.limits.progressAfterMs = 60_000
    stage.simulator.github.fail({ ...commenting, fault: { kind: 'secondary-limit', retryAfterSeconds: 60 }, times: 9 })
    stop.abort(new Error('cancel was asked for'))
    const startedAt = Date.now()
    await comment().finish({ outcome: 'cancelled', reason: 'cancelled by @mona', summary: '' })
    expect(Date.now() - startedAt).toBeLessThan(2_000)
    expect([stage.ours(), await states()]).toEqual([[], ['comment:1 dispatched']])
  })
  test('a stop in the middle of a read-back ends it', async () => {
    const { comment, stop } = await open()
    stage.limits.readBackGapMs = 60_000
    stage.simulator.github.fail({ ...commenting, fault: { kind: 'cut', when: 'before' } })
    const progress = comment()
    await until(async () => (await states())[0] === 'progress:1 dispatched')
    await sleep(200)
    const startedAt = Date.now()
    stop.abort(new Error('cancel was asked for'))
    await progress.finish({ outcome: 'cancelled', reason: 'cancelled by @mona', summary: '' })
    expect(Date.now() - startedAt).toBeLessThan(2_000)
    expect(await states()).toEqual(['progress:1 dispatched'])
  })
  test('502 on the POST although the comment was made: one comment, edited to its end', async () => {
    const { comment } = await open()
    stage.simulator.github.fail({ ...commenting, fault: { kind: 'html', status: 502, done: true }, times: 9 })
    const progress = comment()
    await until(async () => (await states())[0] === 'progress:1 confirmed')
    await progress.finish(failed)
    expect(stage.ours()).toEqual([expect.stringContaining('The model is away')])
  })
})

describe('a clock that is ahead of GitHub', () => {
  const iso = (at: number) => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z')
  test.each([
    ['by three days, with the time of the comment by GitHub', 3 * 86_400_000, true],
    ['by two hours, in a record from before that was kept', 2 * 3_600_000, false],
  ])('%s: a comment whose answer was lost is found, not made again', async (_, ms, known) => {
    const { comment } = await open({ aheadMs: ms, ...(known ? { askedAt: iso(Date.now() - 60_000) } : {}) })
    stage.simulator.github.fail({ ...commenting, fault: { kind: 'cut', when: 'after' } })
    const progress = comment()
    await until(async () => (await states())[0] === 'progress:1 confirmed')
    await progress.stop()
    expect(stage.ours().length).toBe(1)
  })
  test('what is looked for is younger than the comment that asked for it, and no older', async () => {
    const { task } = await open({ askedAt: '2026-01-02T03:04:05Z' })
    expect(threadOf(task.log.state()).since).toBe('2026-01-02T03:04:05Z')
  })
})

test('an attempt after one that died between its last words and its outcome writes nothing over them', async () => {
  const { comment } = await open()
  const first = comment()
  await until(() => stage.ours().length === 1)
  await first.finish({ outcome: 'succeeded', reason: '', summary: '' })
  const said = stage.ours()
  const second = comment()
  // As long as four edits would take.
  await sleep(400)
  await second.handBack()
  await second.finish({ outcome: 'succeeded', reason: '', summary: '' })
  expect(stage.ours()).toEqual(said)
})
