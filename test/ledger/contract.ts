import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findChainFault, foldTask, hashPayload, type NewEvent } from '../../domain/index.ts'
import { type Claim, type Ledger, LedgerAssertion } from '../../ledger/index.ts'
import { accepted, claimOptions, eventOf, leaseMs, refused, startedAt, taskOf } from './samples.ts'

export type LedgerScene = {
  ledger: Ledger
  /** Another connection to the same data. */
  other: Ledger
  /** Moves the clock that both were opened with. */
  setClock(at: number): void
  close(): Promise<void>
}

/** What every driver of the ledger must do. It knows nothing of a database: only the contract's own methods are used. */
export function describeLedger(driver: string, openScene: () => Promise<LedgerScene>): void {
  describe(`the ledger on ${driver}`, () => {
    let scene: LedgerScene
    beforeEach(async () => {
      scene = await openScene()
    })
    afterEach(() => scene.close())
    const each = { of: () => scene }
    deliveries(each)
    acceptance(each)
    claims(each)
    leases(each)
    appends(each)
    outsiders(each)
    effects(each)
    records(each)
    budgets(each)
    others(each)
    erasing(each)
  })
}

type Each = { of(): LedgerScene }

/** Accepts a task and takes it. */
async function running(ledger: Ledger, taskId = 'T1'): Promise<Claim> {
  await ledger.acceptTask(taskOf(taskId))
  const claim = await ledger.claimTask(taskId, claimOptions())
  if (claim === null) throw new Error('the task could not be claimed')
  return claim
}

function batch(attempt: number, expectedSeq: number, events: NewEvent[], taskId = 'T1') {
  return { taskId, attempt, actor: attempt === 0 ? 'app' : 'worker:1', at: startedAt + expectedSeq, expectedSeq, events }
}

const assertion = (message: string) => expect.objectContaining({ name: 'LedgerAssertion', message: expect.stringContaining(message) })

function deliveries({ of }: Each): void {
  const delivery = { id: 'guid-1', event: 'issue_comment', action: 'created', body: Buffer.from([0, 255, 10, 13]), receivedAt: startedAt }

  it('stores a delivery once, whatever is sent under its id later', async () => {
    const { ledger, other } = of()
    expect(await ledger.recordDelivery(delivery)).toBe('recorded')
    expect(await other.recordDelivery({ ...delivery, body: Buffer.from('other') })).toBe('known')
    expect(await ledger.pendingDeliveries(10)).toEqual([{ ...delivery, state: 'pending' }])
  })

  it('hands out pending deliveries oldest first until they are settled', async () => {
    const { ledger } = of()
    for (const id of ['b', 'a', 'c']) await ledger.recordDelivery({ ...delivery, id })
    await ledger.settleDelivery('a', 'ignored', 'no command')
    expect((await ledger.pendingDeliveries(10)).map(({ id }) => id)).toEqual(['b', 'c'])
    expect((await ledger.pendingDeliveries(1)).map(({ id }) => id)).toEqual(['b'])
  })

  it('answers every one of many deliveries that come at the same time', async () => {
    const { ledger } = of()
    const ids = Array.from({ length: 600 }, (_, index) => `guid-${index % 500}`)
    const answers = await Promise.all(ids.map(id => ledger.recordDelivery({ ...delivery, id })))
    expect(answers.filter(answer => answer === 'recorded')).toHaveLength(500)
    expect(answers.slice(500)).toEqual(Array(100).fill('known'))
    expect(await ledger.pendingDeliveries(1000)).toHaveLength(500)
  })

  it('knows a delivery by its id after its body was pruned', async () => {
    const { ledger, setClock } = of()
    for (const id of ['old', 'new', 'open']) await ledger.recordDelivery({ ...delivery, id })
    await ledger.settleDelivery('old', 'settled', '')
    setClock(startedAt + 1000)
    await ledger.settleDelivery('new', 'settled', '')
    expect(await ledger.pruneDeliveries(startedAt + 1000)).toBe(1)
    expect(await ledger.pruneDeliveries(startedAt + 1000)).toBe(0)
    expect(await ledger.recordDelivery({ ...delivery, id: 'old' })).toBe('known')
    expect((await ledger.pendingDeliveries(10)).map(({ id }) => id)).toEqual(['open'])
  })
}

function acceptance({ of }: Each): void {
  it('accepts a meaning once and names the first task afterwards', async () => {
    const { ledger, other } = of()
    expect(await ledger.acceptTask(taskOf('T1'))).toEqual({ kind: 'accepted', taskId: 'T1' })
    expect(await other.acceptTask(taskOf('T2', { meaningKey: 'meaning:T1' }))).toEqual({ kind: 'known', taskId: 'T1' })
    expect(await ledger.task('T2')).toBeNull()
  })

  it('writes the task, its first events and nothing of an attempt', async () => {
    const { ledger, other } = of()
    await ledger.acceptTask(taskOf('T1', { more: [eventOf('effect.prepared', { kind: 'reaction', key: 'eyes' })] }))
    expect(await other.task('T1')).toEqual({
      taskId: 'T1',
      state: 'waiting',
      outcome: null,
      verb: 'fix',
      repository: 'octo/pager',
      laneKey: 'lane:T1',
      needsWorker: true,
      acceptedAt: startedAt,
      endedAt: null,
      deadlineAt: accepted.deadlineAt,
      attempts: 0,
      lastSeq: 2,
      erasedAt: null,
    })
    const events = await other.readEvents('T1')
    expect(events.map(({ seq, type, attempt, actor, version }) => ({ seq, type, attempt, actor, version }))).toEqual([
      { seq: 1, type: 'task.accepted', attempt: 0, actor: 'github:7', version: 1 },
      { seq: 2, type: 'effect.prepared', attempt: 0, actor: 'github:7', version: 1 },
    ])
    expect(events[0]?.payload).toEqual(accepted)
  })

  it('keeps a refused command as a task that is never claimed', async () => {
    const { ledger } = of()
    const end = eventOf('task.ended', { outcome: 'refused' })
    await ledger.acceptTask(taskOf('T1', { needsWorker: false, first: { type: 'task.refused', payload: refused } }))
    expect(await ledger.claimNext(claimOptions())).toBeNull()
    expect(await ledger.claimTask('T1', claimOptions())).toBeNull()
    expect(await ledger.append(batch(0, 1, [end]))).toEqual({ kind: 'appended', lastSeq: 2 })
    expect(await ledger.task('T1')).toMatchObject({ state: 'ended', outcome: 'refused' })
  })

  it('refuses a task id that is no folder name and keeps nothing of it', async () => {
    const { ledger } = of()
    for (const taskId of ['../x', '', '.', 'a/b', 'a\0b']) {
      await expect(ledger.acceptTask(taskOf('T1', { taskId }))).rejects.toEqual(assertion('folder name'))
    }
    expect(await ledger.tasks({ limit: 10 })).toEqual([])
  })

  it('lists tasks newest first, by state and by lane', async () => {
    const { ledger } = of()
    for (const id of ['T1', 'T2', 'T3']) await ledger.acceptTask(taskOf(id, { laneKey: id === 'T2' ? 'two' : 'one' }))
    await ledger.claimTask('T3', claimOptions())
    const ids = async (filter: Parameters<Ledger['tasks']>[0]) => (await ledger.tasks(filter)).map(({ taskId }) => taskId)
    expect(await ids({ limit: 10 })).toEqual(['T3', 'T2', 'T1'])
    expect(await ids({ limit: 2 })).toEqual(['T3', 'T2'])
    expect(await ids({ state: 'waiting', limit: 10 })).toEqual(['T2', 'T1'])
    expect(await ids({ laneKey: 'one', limit: 10 })).toEqual(['T3', 'T1'])
    expect(await ids({ state: 'running', laneKey: 'one', limit: 10 })).toEqual(['T3'])
  })
}

function claims({ of }: Each): void {
  it('takes by priority and then by acceptance, each task once', async () => {
    const { ledger, other } = of()
    await ledger.acceptTask(taskOf('T1', { priority: 5 }))
    await ledger.acceptTask(taskOf('T2', { priority: 1 }))
    await ledger.acceptTask(taskOf('T3', { priority: 1 }))
    const taken = [await ledger.claimNext(claimOptions()), await other.claimNext(claimOptions()), await ledger.claimNext(claimOptions())]
    expect(taken.map(claim => claim?.taskId)).toEqual(['T2', 'T3', 'T1'])
    expect(taken[0]).toEqual({
      taskId: 'T2',
      attempt: 1,
      owner: 'worker-1',
      leaseUntil: startedAt + leaseMs,
      recovers: null,
      exhausted: false,
    })
    expect(await other.claimNext(claimOptions())).toBeNull()
  })

  it('runs the tasks of one lane one after another, even those of higher priority', async () => {
    const { ledger } = of()
    await ledger.acceptTask(taskOf('T1', { laneKey: 'pull-7' }))
    await ledger.acceptTask(taskOf('T2', { laneKey: 'pull-7', priority: 0 }))
    await ledger.acceptTask(taskOf('T3', { laneKey: 'pull-8', priority: 9 }))
    expect(await ledger.claimTask('T1', claimOptions())).toMatchObject({ taskId: 'T1' })
    expect(await ledger.claimTask('T2', claimOptions())).toBeNull()
    expect(await ledger.claimNext(claimOptions())).toMatchObject({ taskId: 'T3' })
    expect(await ledger.claimNext(claimOptions())).toBeNull()
    await ledger.append(batch(1, 1, [eventOf('task.ended')]))
    expect(await ledger.claimNext(claimOptions())).toMatchObject({ taskId: 'T2', attempt: 1 })
  })

  it('gives a task to one of many who ask at the same time', async () => {
    const { ledger, other } = of()
    await ledger.acceptTask(taskOf('T1'))
    const asked = Array.from({ length: 20 }, (_, index) =>
      (index % 2 ? ledger : other).claimNext(claimOptions({ owner: `worker-${index}` })),
    )
    expect((await Promise.all(asked)).filter(claim => claim !== null)).toHaveLength(1)
    expect(await ledger.task('T1')).toMatchObject({ state: 'running', attempts: 1 })
  })

  it.each([
    ['whose lease ran out', { now: startedAt + leaseMs }, true],
    ['whose lease is about to run out', { now: startedAt + leaseMs - 1 }, false],
    ['whose owner is known dead', { deadOwners: ['worker-0', 'worker-1'] }, true],
    ['when only others are dead', { deadOwners: ['worker-0'] }, false],
  ])('takes over a task %s', async (_, options, taken) => {
    const { ledger } = of()
    await running(ledger)
    const next = taken ? { taskId: 'T1', attempt: 2, owner: 'worker-2', recovers: 1, exhausted: false } : null
    const named = await of().other.claimTask('T1', claimOptions({ owner: 'worker-2', ...options }))
    if (next === null) expect(named).toBeNull()
    else expect(named).toMatchObject(next)
  })

  it('takes a lost task over before it starts a newer one', async () => {
    const { ledger } = of()
    await running(ledger)
    await ledger.acceptTask(taskOf('T2'))
    const claim = await ledger.claimNext(claimOptions({ owner: 'worker-2', deadOwners: ['worker-1'] }))
    expect(claim).toMatchObject({ taskId: 'T1', attempt: 2, recovers: 1 })
  })

  it('says `exhausted` after the last recovery, and again if whoever ends the task dies too', async () => {
    const { ledger } = of()
    await running(ledger)
    const taken: boolean[] = []
    for (let turn = 0; turn < 4; turn += 1) {
      const claim = await ledger.claimNext(claimOptions({ recoveriesMax: 2, deadOwners: ['worker-1'] }))
      taken.push(claim?.exhausted ?? false)
    }
    expect(taken).toEqual([false, false, true, true])
    expect(await ledger.append(batch(5, 1, [eventOf('task.ended', { outcome: 'errored' })]))).toMatchObject({ kind: 'appended' })
    expect(await ledger.claimNext(claimOptions({ recoveriesMax: 2, deadOwners: ['worker-1'] }))).toBeNull()
  })

  it('does not count handing back in good order as a loss', async () => {
    const { ledger } = of()
    let claim = await running(ledger)
    for (let turn = 0; turn < 4; turn += 1) {
      await ledger.releaseTask(claim)
      const next = await ledger.claimNext(claimOptions({ recoveriesMax: 0 }))
      expect(next).toMatchObject({ attempt: claim.attempt + 1, recovers: claim.attempt, exhausted: false })
      claim = next as Claim
    }
  })

  it('names the owners of running tasks', async () => {
    const { ledger } = of()
    await running(ledger, 'T1')
    await ledger.acceptTask(taskOf('T2'))
    const claim = await ledger.claimTask('T2', claimOptions({ owner: 'worker-2' }))
    expect(await ledger.runningOwners()).toEqual(['worker-1', 'worker-2'])
    await ledger.releaseTask(claim as Claim)
    expect(await ledger.runningOwners()).toEqual(['worker-1'])
    await ledger.append(batch(1, 1, [eventOf('task.ended')]))
    expect(await ledger.runningOwners()).toEqual([])
  })

  it('returns null for a task nobody knows', async () => {
    expect(await of().ledger.claimTask('T0', claimOptions())).toBeNull()
  })
}

function leases({ of }: Each): void {
  it('holds a task while its lease runs and it is the newest attempt', async () => {
    const { ledger, other } = of()
    const claim = await running(ledger)
    expect(await other.holdsTask(claim, startedAt)).toBe(true)
    expect(await other.holdsTask(claim, claim.leaseUntil)).toBe(false)
    expect(await other.renewLease(claim, startedAt + 2 * leaseMs)).toBe(true)
    expect(await ledger.holdsTask(claim, claim.leaseUntil)).toBe(true)
    expect(await ledger.holdsTask({ ...claim, attempt: 2 }, startedAt)).toBe(false)
    expect(await ledger.holdsTask({ ...claim, taskId: 'T0' }, startedAt)).toBe(false)
  })

  it('is lost for good once somebody took over, whatever the old holder does', async () => {
    const { ledger } = of()
    const old = await running(ledger)
    await ledger.claimNext(claimOptions({ owner: 'worker-2', now: old.leaseUntil, leaseUntil: old.leaseUntil + leaseMs }))
    expect(await ledger.renewLease(old, old.leaseUntil + 9 * leaseMs)).toBe(false)
    expect(await ledger.holdsTask(old, startedAt)).toBe(false)
    await ledger.releaseTask(old)
    expect(await ledger.holdsTask({ taskId: 'T1', attempt: 2 }, old.leaseUntil)).toBe(true)
  })

  it('may be renewed late as long as nobody took over', async () => {
    const { ledger } = of()
    const claim = await running(ledger)
    expect(await ledger.renewLease(claim, claim.leaseUntil + leaseMs)).toBe(true)
    expect(await ledger.holdsTask(claim, claim.leaseUntil + 1)).toBe(true)
  })

  it('does not come back after it was handed back', async () => {
    const { ledger } = of()
    const claim = await running(ledger)
    await ledger.releaseTask(claim)
    expect(await ledger.holdsTask(claim, startedAt)).toBe(false)
    expect(await ledger.renewLease(claim, startedAt + 9 * leaseMs)).toBe(false)
    expect(await ledger.claimNext(claimOptions({ owner: 'worker-2' }))).toMatchObject({ attempt: 2, recovers: 1 })
  })
}

function appends({ of }: Each): void {
  const taint = eventOf('taint.raised')

  it('appends behind the expected seq, and tells where the end is otherwise', async () => {
    const { ledger, other } = of()
    await running(ledger)
    expect(await ledger.append(batch(1, 1, [taint, taint]))).toEqual({ kind: 'appended', lastSeq: 3 })
    expect(await other.append(batch(1, 1, [taint]))).toEqual({ kind: 'moved', lastSeq: 3 })
    expect(await other.append(batch(1, 9, [taint]))).toEqual({ kind: 'moved', lastSeq: 3 })
    expect((await ledger.readEvents('T1', 1)).map(({ seq, commandId, at }) => ({ seq, commandId, at }))).toEqual([
      { seq: 2, commandId: 'taint.raised:1', at: startedAt + 1 },
      { seq: 3, commandId: 'taint.raised:1', at: startedAt + 1 },
    ])
    expect(await ledger.readEvents('T1', 3)).toEqual([])
    expect(await ledger.readEvents('T0')).toEqual([])
  })

  it('fences an attempt that is not the newest, even at the right seq', async () => {
    const { ledger } = of()
    await running(ledger)
    await ledger.claimNext(claimOptions({ owner: 'worker-2', deadOwners: ['worker-1'] }))
    expect(await ledger.append(batch(1, 1, [taint]))).toEqual({ kind: 'fenced', attempt: 2 })
    expect(await ledger.append(batch(2, 1, [taint]))).toEqual({ kind: 'appended', lastSeq: 2 })
  })

  it('keeps events of one append all or none', async () => {
    const { ledger } = of()
    await running(ledger)
    const wrong = eventOf('effect.dispatched', { effectId: 'never-prepared' })
    await expect(ledger.append(batch(1, 1, [taint, wrong]))).rejects.toEqual(assertion('prepared first'))
    expect(await ledger.task('T1')).toMatchObject({ lastSeq: 1 })
  })

  it('keeps what is right of many writes that come together', async () => {
    const { ledger } = of()
    await running(ledger)
    const bad = ledger.append(batch(1, 1, [eventOf('task.accepted')]))
    const good = ledger.append(batch(1, 1, [taint]))
    const late = ledger.append(batch(1, 1, [taint]))
    await expect(bad).rejects.toEqual(assertion('only the first event'))
    expect(await good).toEqual({ kind: 'appended', lastSeq: 2 })
    expect(await late).toEqual({ kind: 'moved', lastSeq: 2 })
  })

  it('closes a task exactly once', async () => {
    const { ledger } = of()
    await running(ledger)
    await ledger.append(batch(1, 1, [eventOf('task.ended')]))
    expect(await ledger.task('T1')).toMatchObject({ state: 'ended', outcome: 'succeeded', endedAt: startedAt + 1 })
    await expect(ledger.append(batch(1, 2, [eventOf('task.ended')]))).rejects.toEqual(assertion('ended'))
    await expect(ledger.append(batch(1, 2, [taint]))).rejects.toEqual(assertion('ended'))
    await expect(running(ledger, 'T2').then(() => ledger.append(batch(1, 1, [eventOf('task.ended'), taint], 'T2')))).rejects.toEqual(
      assertion('ended'),
    )
    expect(await ledger.claimNext(claimOptions({ now: startedAt + 9 * leaseMs }))).toMatchObject({ taskId: 'T2' })
  })

  it.each([
    ['an attempt that was never made', { attempt: 7 }],
    ['no event at all', { events: [] }],
    ['a task nobody knows', { taskId: 'T0' }],
    ['a payload that does not fit its schema', { events: [eventOf('snapshot.taken', { tree: 'not a tree' })] }],
    ['a second acceptance', { events: [eventOf('task.accepted')] }],
  ])('throws a LedgerAssertion for %s', async (_, change) => {
    const { ledger } = of()
    await running(ledger)
    await expect(ledger.append({ ...batch(1, 1, [taint]), ...change })).rejects.toBeInstanceOf(LedgerAssertion)
    expect(await ledger.task('T1')).toMatchObject({ lastSeq: 1 })
  })

  it('gives back payloads of every size byte for byte', async () => {
    const { ledger, other } = of()
    await running(ledger)
    const sizes = [0, 1, 4_000, 32_000, 33_000, 1_000_000]
    const results = sizes.map(size => 'ü\u2028"\\'.repeat(size).slice(0, size))
    for (const [index, result] of results.entries()) await ledger.append(batch(1, index + 1, [eventOf('tool.settled', { result })]))
    const read = await other.readEvents('T1', 1)
    expect(read.map(({ payload }) => payload)).toEqual(results.map(result => eventOf('tool.settled', { result }).payload))
  })

  it('does not keep fields that the schema does not name', async () => {
    const { ledger } = of()
    await running(ledger)
    await ledger.append(batch(1, 1, [eventOf('taint.raised', { token: 'secret' } as never)]))
    const { entries } = await ledger.readRecord('T1')
    expect(Buffer.from(entries[1]?.payload ?? []).toString()).toBe('{"source":"subject","detail":"an issue of a stranger"}')
  })
}

function outsiders({ of }: Each): void {
  const mine = (effectId: string) => eventOf('effect.prepared', { effectId, kind: 'reaction' })
  const sent = (effectId: string) => eventOf('effect.dispatched', { effectId })
  const done = (effectId: string) => eventOf('effect.settled', { effectId })

  it('lets attempt 0 ask for a cancel before the end and never after it', async () => {
    const { ledger } = of()
    await running(ledger)
    expect(await ledger.append(batch(0, 1, [eventOf('cancel.requested')]))).toEqual({ kind: 'appended', lastSeq: 2 })
    await ledger.append(batch(1, 2, [eventOf('task.ended', { outcome: 'cancelled' })]))
    expect(await ledger.append(batch(0, 3, [eventOf('cancel.requested')]))).toEqual({ kind: 'fenced', attempt: 1 })
  })

  it('lets attempt 0 finish its own effects before and after the end', async () => {
    const { ledger } = of()
    await ledger.acceptTask(taskOf('T1', { more: [mine('eyes')] }))
    await ledger.claimTask('T1', claimOptions())
    expect(await ledger.append(batch(0, 2, [sent('eyes')]))).toEqual({ kind: 'appended', lastSeq: 3 })
    await ledger.append(batch(1, 3, [eventOf('task.ended')]))
    expect(await ledger.append(batch(0, 4, [done('eyes'), mine('late'), sent('late')]))).toEqual({ kind: 'appended', lastSeq: 7 })
  })

  it('moves attempt 0 like anybody else when it comes late', async () => {
    const { ledger } = of()
    await running(ledger)
    await ledger.append(batch(1, 1, [eventOf('taint.raised')]))
    expect(await ledger.append(batch(0, 1, [eventOf('cancel.requested')]))).toEqual({ kind: 'moved', lastSeq: 2 })
  })

  it.each([
    ['the end of a task that a worker takes', [eventOf('task.ended')]],
    ['a step of the session', [eventOf('tool.settled')]],
    ['an effect of a worker', [sent('pull')]],
    ['one thing it may and one it may not', [eventOf('cancel.requested'), eventOf('snapshot.taken')]],
  ])('fences attempt 0 from writing %s', async (_, events) => {
    const { ledger } = of()
    await running(ledger)
    await ledger.append(batch(1, 1, [mine('pull')]))
    expect(await ledger.append(batch(0, 2, events))).toEqual({ kind: 'fenced', attempt: 1 })
  })
}

function effects({ of }: Each): void {
  const dispatched = (number: number) => eventOf('effect.dispatched', { try: number })
  const settled = (state: 'confirmed' | 'rejected' | 'unknown') => eventOf('effect.settled', { state })
  const legal: [string, NewEvent[]][] = [
    ['prepared', []],
    ['dispatched', [dispatched(1)]],
    ['confirmed', [dispatched(1), settled('confirmed')]],
    ['rejected', [dispatched(1), settled('rejected')]],
    ['unknown', [dispatched(1), settled('unknown')]],
    ['confirmed', [dispatched(1), settled('unknown'), settled('confirmed')]],
    ['rejected', [dispatched(1), settled('unknown'), settled('rejected')]],
    ['rejected', [settled('rejected')]],
    ['confirmed', [dispatched(1), dispatched(2), settled('confirmed')]],
    ['dispatched', [dispatched(1), settled('unknown'), dispatched(2)]],
  ]
  it.each(legal)('ends in %s by a legal way %#', async (state, steps) => {
    const { ledger } = of()
    await running(ledger)
    await ledger.append(batch(1, 1, [eventOf('effect.prepared'), ...steps]))
    expect(await ledger.effect('effect-1')).toMatchObject({ state })
    expect(foldTask(await ledger.readEvents('T1')).effects['effect-1']).toMatchObject({ state })
  })

  const illegal: [string, NewEvent[]][] = [
    ['prepared twice', [eventOf('effect.prepared')]],
    ['confirmed without being sent', [settled('confirmed')]],
    ['unknown without being sent', [settled('unknown')]],
    ['settled after it was confirmed', [dispatched(1), settled('confirmed'), settled('rejected')]],
    ['sent after it was confirmed', [dispatched(1), settled('confirmed'), dispatched(2)]],
    ['sent after it was rejected', [dispatched(1), settled('rejected'), dispatched(2)]],
    ['unknown twice', [dispatched(1), settled('unknown'), settled('unknown')]],
    ['sent again under the same number', [dispatched(1), dispatched(1)]],
    ['sent first under a higher number', [dispatched(2)]],
  ]
  it.each(illegal)('refuses an effect that is %s, as a bug', async (_, steps) => {
    const { ledger } = of()
    await running(ledger)
    await expect(ledger.append(batch(1, 1, [eventOf('effect.prepared'), ...steps]))).rejects.toBeInstanceOf(LedgerAssertion)
    expect(await ledger.effect('effect-1')).toBeNull()
  })

  it('refuses to move an effect of another task', async () => {
    const { ledger } = of()
    await running(ledger, 'T1')
    await running(ledger, 'T2')
    await ledger.append(batch(1, 1, [eventOf('effect.prepared')]))
    await expect(ledger.append(batch(1, 1, [dispatched(1)], 'T2'))).rejects.toEqual(assertion('its own task'))
  })

  it('shows an effect with its intent and what exists at the other side', async () => {
    const { ledger, other } = of()
    await running(ledger)
    await ledger.append(batch(1, 1, [eventOf('effect.prepared')]))
    const row = {
      effectId: 'effect-1',
      taskId: 'T1',
      attempt: 1,
      kind: 'pull-request',
      key: 'octo/pager:grok/fix-12',
      state: 'prepared',
      tries: 0,
      intent: { title: 'Fix the last page', draft: false },
      remote: null,
      updatedAt: startedAt + 1,
    }
    expect(await other.effect('effect-1')).toEqual(row)
    await ledger.append(batch(1, 2, [dispatched(1), settled('confirmed')]))
    const remote = { number: 13, url: 'https://github.example/octo/pager/pull/13' }
    expect(await other.effect('effect-1')).toEqual({ ...row, state: 'confirmed', tries: 1, remote, updatedAt: startedAt + 2 })
    expect(await other.effect('effect-0')).toBeNull()
  })

  it('lists open effects oldest first, the app apart from workers, and only old ones', async () => {
    const { ledger } = of()
    await ledger.acceptTask(taskOf('T1', { more: [eventOf('effect.prepared', { effectId: 'eyes' })] }))
    await ledger.claimTask('T1', claimOptions())
    const prepared = ['a', 'b', 'c', 'd'].map(effectId => eventOf('effect.prepared', { effectId }))
    for (const [index, event] of prepared.entries()) await ledger.append(batch(1, index + 2, [event]))
    await ledger.append(batch(1, 6, [eventOf('effect.dispatched', { effectId: 'a' })]))
    await ledger.append(batch(1, 7, [eventOf('effect.settled', { effectId: 'b', state: 'rejected' })]))
    await ledger.append(
      batch(1, 8, [eventOf('effect.dispatched', { effectId: 'c' }), eventOf('effect.settled', { effectId: 'c', state: 'unknown' })]),
    )
    const ids = async (attempt: 'app' | 'worker', updatedBefore: number, limit = 10) =>
      (await ledger.openEffects({ attempt, updatedBefore, limit })).map(({ effectId }) => effectId)
    expect(await ids('app', startedAt + 100)).toEqual(['eyes'])
    expect(await ids('worker', startedAt + 100)).toEqual(['d', 'a', 'c'])
    expect(await ids('worker', startedAt + 100, 2)).toEqual(['d', 'a'])
    expect(await ids('worker', startedAt + 6)).toEqual(['d'])
  })
}

function records({ of }: Each): void {
  it('hands out a record whose hashes can be computed again from it', async () => {
    const { ledger, other } = of()
    await running(ledger)
    await ledger.append(batch(1, 1, [eventOf('attempt.started'), eventOf('tool.settled', { result: 'x'.repeat(50_000) })]))
    const { taskId, entries } = await other.readRecord('T1')
    expect(
      findChainFault(
        taskId,
        entries.map(({ header }) => header),
      ),
    ).toBeNull()
    const hashes = entries.map(({ salt, payload }) => hashPayload(salt ?? Buffer.alloc(0), payload ?? Buffer.alloc(0)))
    expect(hashes).toEqual(entries.map(({ header }) => header.payloadHash))
    expect(new Set(entries.map(({ salt }) => Buffer.from(salt ?? []).toString('hex'))).size).toBe(3)
    expect((await other.readEvents('T1')).map(({ hash }) => hash)).toEqual(entries.map(({ header }) => header.hash))
  })

  it('throws for the record of a task nobody knows', async () => {
    await expect(of().ledger.readRecord('T0')).rejects.toBeInstanceOf(LedgerAssertion)
  })

  it('keeps only the newest snapshot', async () => {
    const { ledger, other } = of()
    await running(ledger)
    expect(await ledger.loadSnapshot('T1')).toBeNull()
    await ledger.saveSnapshot('T1', 200, Buffer.from('two'))
    await other.saveSnapshot('T1', 100, Buffer.from('one'))
    expect(await ledger.loadSnapshot('T1')).toEqual({ seq: 200, state: Buffer.from('two') })
    await ledger.saveSnapshot('T0', 1, Buffer.from('nobody'))
    expect(await ledger.loadSnapshot('T0')).toBeNull()
  })
}

function budgets({ of }: Each): void {
  const day = (microUsd: number, limitMicroUsd: number | null = 1000) => [{ key: 'repository:42:2027-01-15', microUsd, limitMicroUsd }]

  it('accepts while every budget can bear it and writes nothing otherwise', async () => {
    const { ledger } = of()
    const actor = { key: 'actor:7:2027-01-15', microUsd: 400, limitMicroUsd: 500 }
    expect(await ledger.acceptTask(taskOf('T1', { budgets: [...day(600), actor] }))).toMatchObject({ kind: 'accepted' })
    const over = await ledger.acceptTask(taskOf('T2', { budgets: [...day(400), actor] }))
    expect(over).toEqual({ kind: 'over-budget', key: actor.key, leftMicroUsd: 100 })
    expect(await ledger.task('T2')).toBeNull()
    expect(await ledger.budget('repository:42:2027-01-15')).toEqual({
      key: 'repository:42:2027-01-15',
      reservedMicroUsd: 600,
      spentMicroUsd: 0,
    })
    expect(await ledger.acceptTask(taskOf('T3', { budgets: day(400) }))).toMatchObject({ kind: 'accepted' })
    expect(await ledger.acceptTask(taskOf('T4', { budgets: day(1) }))).toMatchObject({ kind: 'over-budget', leftMicroUsd: 0 })
    expect(await ledger.acceptTask(taskOf('T4', { budgets: day(1, null) }))).toMatchObject({ kind: 'accepted' })
  })

  it('never lets two who come together reserve more than there is', async () => {
    const { ledger, other } = of()
    const tasks = Array.from({ length: 10 }, (_, index) => taskOf(`T${index}`, { budgets: day(300) }))
    const answers = await Promise.all(tasks.map((task, index) => (index % 2 ? ledger : other).acceptTask(task)))
    expect(answers.filter(({ kind }) => kind === 'accepted')).toHaveLength(3)
  })

  it('settles with what the events say was spent when the task ends', async () => {
    const { ledger } = of()
    await ledger.acceptTask(taskOf('T1', { budgets: day(600) }))
    await ledger.claimTask('T1', claimOptions())
    const usage = { inputTokens: 1, cachedTokens: 0, outputTokens: 1, costMicroUsd: 70, reported: true }
    const failed = eventOf('model.failed', { usage: { ...usage, costMicroUsd: 5 } })
    await ledger.append(
      batch(1, 1, [eventOf('model.answered', { usage }), failed, eventOf('model.answered', { usage: { ...usage, costMicroUsd: null } })]),
    )
    await ledger.append(batch(1, 4, [eventOf('model.answered', { usage }), eventOf('task.ended')]))
    expect(await ledger.budget('repository:42:2027-01-15')).toMatchObject({ reservedMicroUsd: 0, spentMicroUsd: 145 })
    expect(await ledger.settleBudget('T1', 9)).toBe(false)
  })

  it('settles and releases by hand, once', async () => {
    const { ledger } = of()
    await ledger.acceptTask(taskOf('T1', { budgets: day(600) }))
    await ledger.acceptTask(taskOf('T2', { budgets: day(300) }))
    expect(await ledger.settleBudget('T1', 650)).toBe(true)
    expect(await ledger.settleBudget('T2', 0)).toBe(true)
    expect(await ledger.settleBudget('T2', 0)).toBe(false)
    expect(await ledger.settleBudget('T0', 0)).toBe(false)
    expect(await ledger.budget('repository:42:2027-01-15')).toMatchObject({ reservedMicroUsd: 0, spentMicroUsd: 650 })
    await expect(ledger.settleBudget('T1', -1)).rejects.toBeInstanceOf(LedgerAssertion)
  })
}

function others({ of }: Each): void {
  it('keeps the last value of a switch', async () => {
    const { ledger, other, setClock } = of()
    expect(await ledger.switch('kill')).toBeNull()
    await ledger.setSwitch('kill', 'pulled', 'github:1')
    setClock(startedAt + 5)
    await other.setSwitch('kill', 'on', 'github:2')
    expect(await ledger.switch('kill')).toEqual({ value: 'on', at: startedAt + 5 })
  })
}

function erasing({ of }: Each): void {
  it('erases an ended task and leaves a chain that verifies', async () => {
    const { ledger, other, setClock } = of()
    await ledger.recordDelivery({ id: 'guid-1', event: 'e', action: 'a', body: Buffer.from('words'), receivedAt: startedAt })
    await ledger.acceptTask(taskOf('T1', { deliveryId: 'guid-1' }))
    await ledger.settleDelivery('guid-1', 'settled', '')
    await ledger.claimTask('T1', claimOptions())
    await ledger.append(batch(1, 1, [eventOf('effect.prepared'), eventOf('tool.settled', { result: 'y'.repeat(50_000) })]))
    await ledger.saveSnapshot('T1', 3, Buffer.from('state'))
    expect(await ledger.eraseTask('T1', 'cli')).toBe('open')
    await ledger.append(batch(1, 3, [eventOf('task.ended')]))
    const before = (await ledger.readRecord('T1')).entries.map(({ header }) => header)
    setClock(startedAt + 77)
    expect(await other.eraseTask('T1', 'cli')).toBe('erased')
    const after = await ledger.readRecord('T1')
    expect(after.entries.map(({ header }) => header)).toEqual(before)
    expect(findChainFault('T1', before)).toBeNull()
    expect(after.entries.map(({ salt, payload }) => [salt, payload])).toEqual(before.map(() => [null, null]))
    expect((await ledger.readEvents('T1')).map(({ payload }) => payload)).toEqual(before.map(() => null))
    expect(foldTask(await ledger.readEvents('T1'))).toMatchObject({ seq: 4, erased: true, accepted: null })
    expect(await ledger.task('T1')).toMatchObject({ state: 'ended', outcome: 'succeeded', erasedAt: startedAt + 77 })
    expect(await ledger.loadSnapshot('T1')).toBeNull()
    expect(await ledger.openEffects({ attempt: 'worker', updatedBefore: startedAt + 9999, limit: 10 })).toEqual([])
    expect(await ledger.effect('effect-1')).toMatchObject({ key: '', intent: null, remote: null })
    expect(await ledger.pruneDeliveries(startedAt + 9999)).toBe(0)
  })

  it('may be asked again, and brings nothing back afterwards', async () => {
    const { ledger, setClock } = of()
    await running(ledger)
    await ledger.append(batch(1, 1, [eventOf('effect.prepared'), eventOf('task.ended')]))
    expect(await ledger.eraseTask('T1', 'cli')).toBe('erased')
    setClock(startedAt + 99)
    expect(await ledger.eraseTask('T1', 'other')).toBe('erased')
    expect(await ledger.task('T1')).toMatchObject({ erasedAt: startedAt })
    await ledger.saveSnapshot('T1', 3, Buffer.from('late'))
    expect(await ledger.loadSnapshot('T1')).toBeNull()
    await expect(ledger.append(batch(1, 3, [eventOf('effect.dispatched')]))).rejects.toEqual(assertion('erased'))
    expect(await ledger.eraseTask('T0', 'cli')).toBe('unknown')
  })

  it('leaves every other task as it was', async () => {
    const { ledger } = of()
    for (const taskId of ['T1', 'T2']) {
      await running(ledger, taskId)
      await ledger.append(batch(1, 1, [eventOf('tool.settled', { result: 'same '.repeat(20_000) }), eventOf('task.ended')], taskId))
    }
    const before = await ledger.readRecord('T2')
    await ledger.eraseTask('T1', 'cli')
    expect(await ledger.readRecord('T2')).toEqual(before)
  })
}
