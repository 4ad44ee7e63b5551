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
  const cancelOf = async (ledger: Ledger, taskId: string) => foldTask(await ledger.readEvents(taskId)).cancel

  it('supersedes the older tasks of the same lane and verb in the transaction that accepts the newer one', async () => {
    const { ledger, other } = of()
    const supersedes = { by: '@mona', reason: 'a newer review was asked for by @mona' }
    await ledger.acceptTask(taskOf('over', { laneKey: 'pull-7', ...verb('review') }))
    await ledger.claimTask('over', claimOptions())
    await ledger.append(batch(1, 1, [eventOf('task.ended')], 'over'))
    await ledger.acceptTask(taskOf('runs', { laneKey: 'pull-7', ...verb('review') }))
    await ledger.claimTask('runs', claimOptions())
    await ledger.acceptTask(taskOf('waits', { laneKey: 'pull-7', ...verb('review') }))
    await ledger.acceptTask(taskOf('fix', { laneKey: 'pull-7', ...verb('fix') }))
    await ledger.acceptTask(taskOf('elsewhere', { laneKey: 'pull-8', ...verb('review') }))
    const reply = {
      needsWorker: false,
      first: { type: 'task.refused', payload: { ...refused, command: { ...refused.command, verb: 'review' } } },
    } as const
    await ledger.acceptTask(taskOf('reply', { laneKey: 'pull-7', ...reply }))
    await ledger.acceptTask(taskOf('asked', { laneKey: 'pull-7', ...verb('review') }))
    await ledger.append(batch(0, 1, [eventOf('cancel.requested')], 'asked'))
    const newer = taskOf('newer', { laneKey: 'pull-7', ...verb('review'), supersedes, acceptedAt: startedAt + 7 })
    expect(await other.acceptTask(newer)).toEqual({ kind: 'accepted', taskId: 'newer' })
    const ids = ['runs', 'waits', 'fix', 'elsewhere', 'over', 'reply', 'newer']
    const kept = await Promise.all(ids.map(id => cancelOf(ledger, id)))
    const asked = { ...supersedes, kind: 'superseded', at: startedAt + 7 }
    expect(kept).toEqual([asked, asked, null, null, null, null, null])
    expect(await ledger.task('asked')).toMatchObject({ lastSeq: 2 })
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
