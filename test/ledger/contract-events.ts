import { expect, it } from 'vitest'
import { findChainFault, foldTask, hashPayload, type NewEvent } from '../../domain/index.ts'
import { LedgerAssertion } from '../../ledger/index.ts'
import type { OpenEffects } from '../../ledger/ledger.ts'
import { assertion, batch, type Each, running } from './contract-scene.ts'
import { claimOptions, eventOf, leaseMs, startedAt, taskOf } from './samples.ts'

export function appends({ of }: Each): void {
  const taint = eventOf('taint.raised')

  it('appends behind the expected seq, and tells where the end is otherwise', async () => {
    const { ledger, other } = of()
    await running(ledger)
    const appended = await ledger.append(batch(1, 1, [taint, taint]))
    expect(appended).toEqual({ kind: 'appended', lastSeq: 3, events: await ledger.readEvents('T1', 1) })
    expect(await other.append(batch(1, 1, [taint]))).toEqual({ kind: 'moved', lastSeq: 3 })
    expect(await other.append(batch(1, 9, [taint]))).toEqual({ kind: 'moved', lastSeq: 3 })
    expect((await ledger.readEvents('T1', 1)).map(({ seq, commandId, at }) => ({ seq, commandId, at }))).toEqual([
      { seq: 2, commandId: 'taint.raised:1', at: startedAt + 1 },
      { seq: 3, commandId: 'taint.raised:1', at: startedAt + 1 },
    ])
    expect(await ledger.readEvents('T1', 3)).toEqual([])
    expect((await ledger.readEvents('T1', 1, 1)).map(({ seq }) => seq)).toEqual([2])
    expect(await ledger.readEvents('T0')).toEqual([])
  })

  it('fences an attempt that is not the newest, even at the right seq', async () => {
    const { ledger } = of()
    await running(ledger)
    await ledger.claimNext(claimOptions({ owner: 'worker-2', deadOwners: ['worker-1'] }))
    expect(await ledger.append(batch(1, 1, [taint]))).toEqual({ kind: 'fenced', attempt: 2 })
    expect(await ledger.append(batch(2, 1, [taint]))).toMatchObject({ kind: 'appended', lastSeq: 2 })
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
    expect(await good).toMatchObject({ kind: 'appended', lastSeq: 2 })
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

export function outsiders({ of }: Each): void {
  const mine = (effectId: string) => eventOf('effect.prepared', { effectId, kind: 'reaction' })
  const sent = (effectId: string) => eventOf('effect.dispatched', { effectId })
  const done = (effectId: string) => eventOf('effect.settled', { effectId })

  it('lets attempt 0 ask for a cancel before the end and never after it', async () => {
    const { ledger } = of()
    await running(ledger)
    expect(await ledger.append(batch(0, 1, [eventOf('cancel.requested')]))).toMatchObject({ kind: 'appended', lastSeq: 2 })
    await ledger.append(batch(1, 2, [eventOf('task.ended', { outcome: 'cancelled' })]))
    expect(await ledger.append(batch(0, 3, [eventOf('cancel.requested')]))).toEqual({ kind: 'fenced', attempt: 1 })
  })

  it('lets attempt 0 finish its own effects before and after the end', async () => {
    const { ledger } = of()
    await ledger.acceptTask(taskOf('T1', { more: [mine('eyes')] }))
    await ledger.claimTask('T1', claimOptions())
    expect(await ledger.append(batch(0, 2, [sent('eyes')]))).toMatchObject({ kind: 'appended', lastSeq: 3 })
    await ledger.append(batch(1, 3, [eventOf('task.ended')]))
    expect(await ledger.append(batch(0, 4, [done('eyes'), mine('late'), sent('late')]))).toMatchObject({ kind: 'appended', lastSeq: 7 })
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

export function effects({ of }: Each): void {
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

  it('lists open effects oldest first, those of the app apart from those of workers, and these only of tasks that have ended', async () => {
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
    const window = { updatedBefore: startedAt + 100, limit: 10 }
    const ids = async (filter: Partial<OpenEffects>) =>
      (await ledger.openEffects({ attempt: 'worker', ended: true, states: 'in-flight', ...window, ...filter } as OpenEffects)).map(
        ({ effectId }) => effectId,
      )
    expect(await ids({ attempt: 'app' })).toEqual(['eyes'])
    expect(await ids({ attempt: 'app', states: 'unknown' })).toEqual([])
    expect([await ids({}), await ids({ states: 'unknown' })]).toEqual([[], []])
    await ledger.append(batch(1, 10, [eventOf('task.ended')]))
    expect(await ids({})).toEqual(['d', 'a'])
    expect(await ids({ limit: 1 })).toEqual(['d'])
    expect(await ids({ updatedBefore: startedAt + 6 })).toEqual(['d'])
    expect(await ids({ updatedAfter: startedAt + 6 })).toEqual(['a'])
    expect(await ids({ states: 'unknown' })).toEqual(['c'])
    expect(await ids({ attempt: 'app' })).toEqual(['eyes'])
  })
}

export function records({ of }: Each): void {
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
}
