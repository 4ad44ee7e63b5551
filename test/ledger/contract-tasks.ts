import { expect, it } from 'vitest'
import type { Claim, Ledger } from '../../ledger/index.ts'
import { assertion, batch, type Each, running } from './contract-scene.ts'
import { accepted, claimOptions, eventOf, leaseMs, refused, startedAt, taskOf } from './samples.ts'

export function deliveries({ of }: Each): void {
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
    expect(await Promise.all(['old', 'new', 'open', 'none'].map(id => ledger.knowsDelivery(id)))).toEqual([true, true, true, false])
  })
}

export function acceptance({ of }: Each): void {
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
      owner: null,
      cancelRequestedAt: null,
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
    expect(await ledger.append(batch(0, 1, [end]))).toMatchObject({ kind: 'appended', lastSeq: 2 })
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
    expect(await ids({ state: 'open', limit: 10 })).toEqual(['T3', 'T2', 'T1'])
    await ledger.append(batch(1, 1, [eventOf('task.ended')], 'T3'))
    expect(await ids({ state: 'open', laneKey: 'one', limit: 10 })).toEqual(['T1'])
  })

  it('counts towards the limit only what fits all of the filter', async () => {
    const { ledger } = of()
    await ledger.acceptTask(taskOf('T1', { laneKey: 'one' }))
    for (let index = 0; index < 10; index += 1) {
      await ledger.acceptTask(taskOf(`busy-${index}`, { laneKey: 'two' }))
      const reply = { needsWorker: false, first: { type: 'task.refused', payload: refused } } as const
      await ledger.acceptTask(taskOf(`reply-${index}`, { laneKey: 'one', ...reply }))
    }
    for (const state of [undefined, 'waiting', 'open'] as const) {
      const rows = await ledger.tasks({ ...(state ? { state } : {}), laneKey: 'one', needsWorker: true, limit: 1 })
      expect(rows.map(({ taskId }) => taskId)).toEqual(['T1'])
    }
  })
}

export function claims({ of }: Each): void {
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

  it('Q83: runs the tasks of one lane one after another, even those of higher priority', async () => {
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

  it('takes a lost task over before it starts a more urgent one, because its time to work is running', async () => {
    const { ledger } = of()
    await ledger.acceptTask(taskOf('T1', { priority: 5 }))
    await ledger.claimNext(claimOptions())
    await ledger.acceptTask(taskOf('T2', { priority: 0 }))
    const options = claimOptions({ owner: 'worker-2', deadOwners: ['worker-1'] })
    expect([await ledger.claimNext(options), await ledger.claimNext(options)]).toMatchObject([{ taskId: 'T1' }, { taskId: 'T2' }])
  })

  it('Q77: says `exhausted` after the last recovery, and again if whoever ends the task dies too', async () => {
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

export function leases({ of }: Each): void {
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
