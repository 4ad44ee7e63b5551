import { expect, it } from 'vitest'
import { batch, type Each } from './contract-scene.ts'
import { accepted, claimOptions, eventOf, refused, startedAt, taskOf } from './samples.ts'

/** What an operator and a waiting person ask. */
export function figures({ of }: Each): void {
  const nothing = {
    waiting: 0,
    running: 0,
    waitingByTenant: [],
    oldestWaitingMs: null,
    pendingDeliveries: 0,
    oldestDeliveryMs: null,
    effectsInFlight: 0,
    effectsUnknown: 0,
  }

  it('counts nothing where there is nothing, and what has ended as nothing', async () => {
    const { ledger } = of()
    expect(await ledger.queueFigures()).toEqual(nothing)
    await ledger.recordDelivery({ id: 'guid', event: 'e', action: 'a', body: Buffer.from('{}'), receivedAt: startedAt })
    await ledger.settleDelivery('guid', 'settled', '')
    await ledger.acceptTask(taskOf('T1'))
    await ledger.claimTask('T1', claimOptions())
    const done = [eventOf('effect.prepared'), eventOf('effect.dispatched'), eventOf('effect.settled'), eventOf('task.ended')]
    await ledger.append(batch(1, 1, done))
    expect(await ledger.queueFigures()).toEqual(nothing)
  })

  it('counts what waits, by tenant and since when, what runs, and what is under way', async () => {
    const { ledger, other, setClock } = of()
    const delivery = { event: 'e', action: 'a', body: Buffer.from('{}') }
    for (const [id, receivedAt] of Object.entries({ old: startedAt - 5, new: startedAt }))
      await ledger.recordDelivery({ ...delivery, id, receivedAt })
    for (const [id, tenantKey] of ['i1', 'i2', 'i2', 'i2', 'i3'].entries())
      await ledger.acceptTask(taskOf(`T${id}`, { tenantKey, acceptedAt: startedAt + id }))
    await ledger.claimTask('T0', claimOptions())
    await ledger.claimTask('T1', claimOptions())
    const prepared = ['a', 'b', 'c'].map(effectId => eventOf('effect.prepared', { effectId }))
    const unknown = [
      eventOf('effect.dispatched', { effectId: 'c' }),
      eventOf('effect.settled', { effectId: 'c', state: 'unknown', remote: {} }),
    ]
    await ledger.append(batch(1, 1, [...prepared, eventOf('effect.dispatched', { effectId: 'a' }), ...unknown], 'T1'))
    // An answer of the app's half waits for no worker; its effect is one that is under way.
    const reply = { needsWorker: false, first: { type: 'task.refused', payload: refused } } as const
    await ledger.acceptTask(taskOf('reply', { ...reply, more: [eventOf('effect.prepared', { effectId: 'd' })] }))
    setClock(startedAt + 1_000)
    expect(await other.queueFigures()).toEqual({
      waiting: 3,
      running: 2,
      waitingByTenant: [
        { tenantKey: 'i2', waiting: 2 },
        { tenantKey: 'i3', waiting: 1 },
      ],
      oldestWaitingMs: 998,
      pendingDeliveries: 2,
      oldestDeliveryMs: 1_005,
      effectsInFlight: 3,
      effectsUnknown: 1,
    })
  })

  it('names the ten tenants that have most waiting, and counts all', async () => {
    const { ledger } = of()
    const tenants = Array.from({ length: 12 }, (_, index) => `i${index + 10}`)
    const twice = [...tenants, 'i21']
    await Promise.all(twice.map((tenantKey, index) => ledger.acceptTask(taskOf(`T${index}`, { tenantKey }))))
    const { waiting, waitingByTenant } = await ledger.queueFigures()
    expect(waiting).toBe(13)
    const named = ['i21', ...tenants.slice(0, 9)]
    expect(waitingByTenant).toEqual(named.map(tenantKey => ({ tenantKey, waiting: tenantKey === 'i21' ? 2 : 1 })))
  })

  it('does not count the effects of an erased task, which nobody can do any more', async () => {
    const { ledger } = of()
    await ledger.acceptTask(taskOf('T1'))
    await ledger.claimTask('T1', claimOptions())
    await ledger.append(batch(1, 1, [eventOf('effect.prepared'), eventOf('task.ended')]))
    expect(await ledger.queueFigures()).toEqual({ ...nothing, effectsInFlight: 1 })
    await ledger.eraseTask('T1', 'cli')
    expect(await ledger.queueFigures()).toEqual(nothing)
  })

  it('says how many tasks come before one, in its lane and in its repository', async () => {
    const { ledger, other } = of()
    const tool = { ...accepted, repository: { ...accepted.repository, id: 43, name: 'tool' } }
    await ledger.acceptTask(taskOf('over', { laneKey: 'one' }))
    await ledger.claimTask('over', claimOptions())
    await ledger.append(batch(1, 1, [eventOf('task.ended')], 'over'))
    await ledger.acceptTask(taskOf('runs', { laneKey: 'one', priority: 5 }))
    await ledger.claimTask('runs', claimOptions())
    await ledger.acceptTask(taskOf('before', { laneKey: 'two' }))
    await ledger.acceptTask(taskOf('elsewhere', { laneKey: 'three', first: { type: 'task.accepted', payload: tool } }))
    await ledger.acceptTask(taskOf('later', { laneKey: 'one', priority: 2 }))
    await ledger.acceptTask(taskOf('mine', { laneKey: 'one' }))
    await ledger.acceptTask(taskOf('urgent', { laneKey: 'one', priority: 0 }))
    await ledger.acceptTask(taskOf('after', { laneKey: 'one' }))
    const reply = { needsWorker: false, first: { type: 'task.refused', payload: refused } } as const
    await ledger.acceptTask(taskOf('reply', { laneKey: 'one', priority: 0, ...reply }))
    expect(await other.runsAhead('mine')).toEqual({ lane: 2, repository: 3 })
    expect(await other.runsAhead('elsewhere')).toEqual({ lane: 0, repository: 0 })
    const idle = ['over', 'runs', 'reply', 'nobody'].map(id => ledger.runsAhead(id))
    expect(await Promise.all(idle)).toEqual([null, null, null, null])
  })

  it('tries a write that leaves nothing behind in any of its figures or switches', async () => {
    const { ledger, other, setClock } = of()
    await ledger.probeWrite('serve-1')
    setClock(startedAt + 1)
    await other.probeWrite('serve-2')
    expect(await ledger.queueFigures()).toEqual(nothing)
    expect(await ledger.switch('written')).toBeNull()
  })
}
