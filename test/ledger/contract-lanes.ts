import { expect, it } from 'vitest'
import { foldTask } from '../../domain/index.ts'
import type { Ledger } from '../../ledger/index.ts'
import { batch, type Each } from './contract-scene.ts'
import { accepted, claimOptions, eventOf, refused, startedAt, taskOf } from './samples.ts'

/** Tasks of a lane that are asked to end together. */
export function lanes({ of }: Each): void {
  const verb = (name: string) => ({
    first: { type: 'task.accepted' as const, payload: { ...accepted, command: { ...accepted.command, verb: name } } },
  })
  const cancel = { by: '@mona', reason: '#12 was closed', kind: 'closed' } as const
  const request = { laneKey: 'pull-7', cancel, actor: 'github:7', at: startedAt + 9 }
  const cancelOf = async (ledger: Ledger, taskId: string) => foldTask(await ledger.readEvents(taskId)).cancel

  it('asks the tasks of a lane that have not ended and need a worker, and no others', async () => {
    const { ledger, other } = of()
    for (const id of ['over', 'runs', 'waits']) await ledger.acceptTask(taskOf(id, { laneKey: 'pull-7' }))
    await ledger.acceptTask(taskOf('elsewhere', { laneKey: 'pull-8' }))
    const reply = { needsWorker: false, first: { type: 'task.refused', payload: refused } } as const
    await ledger.acceptTask(taskOf('reply', { laneKey: 'pull-7', ...reply }))
    await ledger.claimTask('over', claimOptions())
    await ledger.append(batch(1, 1, [eventOf('task.ended')], 'over'))
    await ledger.claimTask('runs', claimOptions())
    expect(await other.cancelLane(request)).toEqual(['runs', 'waits'])
    const asked = (await ledger.readEvents('waits', 1)).map(({ hash: _, ...event }) => event)
    expect(asked).toEqual([
      {
        type: 'cancel.requested',
        seq: 2,
        version: 1,
        commandId: 'waits:closed',
        actor: 'github:7',
        attempt: 0,
        at: startedAt + 9,
        payload: cancel,
      },
    ])
    for (const id of ['over', 'elsewhere', 'reply']) expect(await cancelOf(ledger, id), id).toBeNull()
  })

  it('asks nobody twice, whoever asked first', async () => {
    const { ledger } = of()
    for (const id of ['T1', 'T2']) await ledger.acceptTask(taskOf(id, { laneKey: 'pull-7' }))
    await ledger.append(batch(0, 1, [eventOf('cancel.requested')]))
    expect(await ledger.cancelLane(request)).toEqual(['T2'])
    expect(await ledger.cancelLane(request)).toEqual([])
    expect([await ledger.task('T1'), await ledger.task('T2')]).toMatchObject([{ lastSeq: 2 }, { lastSeq: 2 }])
  })

  it('asks only those of a verb, and those that were accepted before', async () => {
    const { ledger } = of()
    const task = (id: string, name: string, acceptedAt: number) => taskOf(id, { laneKey: 'pull-7', acceptedAt, ...verb(name) })
    await ledger.acceptTask(task('fix', 'fix', startedAt))
    await ledger.acceptTask(task('review', 'review', startedAt))
    await ledger.acceptTask(task('late', 'review', startedAt + 5))
    await ledger.acceptTask(task('later', 'fix', startedAt + 6))
    expect(await ledger.cancelLane({ ...request, verb: 'review', acceptedBefore: startedAt + 5 })).toEqual(['review'])
    expect(await ledger.cancelLane({ ...request, acceptedBefore: startedAt + 5 })).toEqual(['fix'])
    expect(await ledger.cancelLane({ ...request, verb: 'review' })).toEqual(['late'])
    expect(await ledger.cancelLane(request)).toEqual(['later'])
  })

  it('supersedes the older tasks of the same lane and verb in the transaction that accepts the newer one', async () => {
    const { ledger, other } = of()
    const supersedes = { by: '@mona', reason: 'a newer review was asked for by @mona' }
    await ledger.acceptTask(taskOf('runs', { laneKey: 'pull-7', ...verb('review') }))
    await ledger.claimTask('runs', claimOptions())
    await ledger.acceptTask(taskOf('waits', { laneKey: 'pull-7', ...verb('review') }))
    await ledger.acceptTask(taskOf('fix', { laneKey: 'pull-7', ...verb('fix') }))
    await ledger.acceptTask(taskOf('elsewhere', { laneKey: 'pull-8', ...verb('review') }))
    const newer = taskOf('newer', { laneKey: 'pull-7', ...verb('review'), supersedes, acceptedAt: startedAt + 7 })
    expect(await other.acceptTask(newer)).toEqual({ kind: 'accepted', taskId: 'newer' })
    const ids = ['runs', 'waits', 'fix', 'elsewhere', 'newer']
    const kept = await Promise.all(ids.map(id => cancelOf(ledger, id)))
    const asked = { ...supersedes, kind: 'superseded', at: startedAt + 7 }
    expect(kept).toEqual([asked, asked, null, null, null])
  })

  it('supersedes nothing when the newer one is known already, can not be paid, or is not written', async () => {
    const { ledger } = of()
    const supersedes = { by: '@mona', reason: 'newer' }
    await ledger.acceptTask(taskOf('T1', { laneKey: 'pull-7' }))
    const newer = taskOf('T2', { laneKey: 'pull-7', supersedes })
    expect(await ledger.acceptTask({ ...newer, meaningKey: 'meaning:T1' })).toEqual({ kind: 'known', taskId: 'T1' })
    expect(await ledger.acceptTask({ ...newer, budgets: [{ key: 'day', microUsd: 2, limitMicroUsd: 1 }] })).toMatchObject({
      kind: 'over-budget',
    })
    await expect(ledger.acceptTask({ ...newer, more: [eventOf('effect.dispatched')] })).rejects.toMatchObject({ name: 'LedgerAssertion' })
    expect(await ledger.task('T1')).toMatchObject({ lastSeq: 1 })
  })

  it('lets the superseded ones end before the newer one of their lane begins', async () => {
    const { ledger } = of()
    await ledger.acceptTask(taskOf('T1', { laneKey: 'pull-7' }))
    await ledger.acceptTask(taskOf('T2', { laneKey: 'pull-7', supersedes: { by: '@mona', reason: 'newer' } }))
    const order: (string | undefined)[] = []
    for (const seq of [2, 1]) {
      const claim = await ledger.claimNext(claimOptions())
      order.push(claim?.taskId)
      expect(await ledger.claimNext(claimOptions())).toBeNull()
      await ledger.append(batch(1, seq, [eventOf('task.ended', { outcome: 'superseded' })], claim?.taskId))
    }
    expect(order).toEqual(['T1', 'T2'])
  })
}
