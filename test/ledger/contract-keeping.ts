import { expect, it } from 'vitest'
import { findChainFault, foldTask } from '../../domain/index.ts'
import { LedgerAssertion } from '../../ledger/index.ts'
import { assertion, batch, type Each, running } from './contract-scene.ts'
import { claimOptions, eventOf, startedAt, taskOf } from './samples.ts'

export function budgets({ of }: Each): void {
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

  it('refuses a task that sets nothing aside where nothing is left, and takes it while anything is', async () => {
    const { ledger } = of()
    await ledger.acceptTask(taskOf('T1', { budgets: day(999) }))
    expect(await ledger.acceptTask(taskOf('T2', { budgets: day(0) }))).toMatchObject({ kind: 'accepted' })
    expect(await ledger.acceptTask(taskOf('T3', { budgets: day(1) }))).toMatchObject({ kind: 'accepted' })
    const key = 'repository:42:2027-01-15'
    expect(await ledger.acceptTask(taskOf('T4', { budgets: day(0) }))).toEqual({ kind: 'over-budget', key, leftMicroUsd: 0 })
    await ledger.settleBudget('T1', 2_000)
    expect(await ledger.acceptTask(taskOf('T4', { budgets: day(0) }))).toEqual({ kind: 'over-budget', key, leftMicroUsd: 0 })
    expect(await ledger.acceptTask(taskOf('T4', { budgets: day(0, null) }))).toMatchObject({ kind: 'accepted' })
  })

  it('frees what a task did not spend for others when it ends', async () => {
    const { ledger } = of()
    await ledger.acceptTask(taskOf('T1', { budgets: day(900) }))
    await ledger.claimTask('T1', claimOptions())
    expect(await ledger.acceptTask(taskOf('T2', { budgets: day(900) }))).toMatchObject({ kind: 'over-budget', leftMicroUsd: 100 })
    const usage = { inputTokens: 1, cachedTokens: 0, outputTokens: 1, costMicroUsd: 100, reported: true }
    await ledger.append(batch(1, 1, [eventOf('model.answered', { usage }), eventOf('task.ended')]))
    expect(await ledger.acceptTask(taskOf('T2', { budgets: day(900) }))).toMatchObject({ kind: 'accepted' })
  })

  it('takes one reservation of a task in each budget', async () => {
    const { ledger } = of()
    const twice = ledger.acceptTask(taskOf('T1', { budgets: [...day(600), ...day(600)] }))
    await expect(twice).rejects.toEqual(assertion('one reservation'))
    expect(await ledger.task('T1')).toBeNull()
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

export function others({ of }: Each): void {
  it('keeps the last value of a switch', async () => {
    const { ledger, other, setClock } = of()
    expect(await ledger.switch('kill')).toBeNull()
    await ledger.setSwitch('kill', 'pulled', 'github:1')
    setClock(startedAt + 5)
    await other.setSwitch('kill', 'on', 'github:2')
    expect(await ledger.switch('kill')).toEqual({ value: 'on', at: startedAt + 5 })
  })
}

export function erasing({ of }: Each): void {
  it('erases an ended task and leaves a chain that verifies', async () => {
    const { ledger, other, setClock } = of()
    await ledger.recordDelivery({ id: 'guid-1', event: 'e', action: 'a', body: Buffer.from('words'), receivedAt: startedAt })
    await ledger.acceptTask(taskOf('T1', { deliveryId: 'guid-1' }))
    await ledger.settleDelivery('guid-1', 'settled', '')
    await ledger.claimTask('T1', claimOptions())
    await ledger.append(batch(1, 1, [eventOf('effect.prepared'), eventOf('tool.settled', { result: 'y'.repeat(50_000) })]))
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
    for (const states of ['in-flight', 'unknown'] as const)
      expect(await ledger.openEffects({ attempt: 'worker', ended: true, states, updatedBefore: startedAt + 9999, limit: 10 })).toEqual([])
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
