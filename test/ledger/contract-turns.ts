import { expect, it } from 'vitest'
import type { Claim, Ledger, NewTask } from '../../ledger/index.ts'
import { batch, type Each } from './contract-scene.ts'
import { seededRandom } from './random.ts'
import { claimOptions, eventOf, taskOf } from './samples.ts'

/** Tenants take turns. */
export function turns({ of }: Each): void {
  const accept = (ledger: Ledger, taskId: string, tenantKey: string, change: Partial<NewTask> = {}) =>
    ledger.acceptTask(taskOf(taskId, { tenantKey, ...change }))
  const end = (ledger: Ledger, { taskId, attempt }: Claim) => ledger.append(batch(attempt, 1, [eventOf('task.ended')], taskId))
  const start = async (ledger: Ledger): Promise<Claim> => {
    const claim = await ledger.claimNext(claimOptions())
    if (claim === null) throw new Error('there was nothing to claim')
    return claim
  }
  const starts = async (ledger: Ledger, count: number) => {
    const taskIds: string[] = []
    for (let index = 0; index < count; index += 1) taskIds.push((await start(ledger)).taskId)
    return taskIds
  }

  it('starts each of 20 tenants at its turn on 2 slots, behind one that has 500 tasks waiting', async () => {
    const { ledger } = of()
    const backlog = Array.from({ length: 500 }, (_, index) => accept(ledger, `big-${index}`, 'i1'))
    const small = Array.from({ length: 20 }, (_, index) => accept(ledger, `small-${index}`, `i${index + 2}`))
    await Promise.all([...backlog, ...small])
    const slots = [await start(ledger), await start(ledger)]
    const order = slots.map(({ taskId }) => taskId)
    while (order.length < 24) {
      await end(ledger, slots.shift() as Claim)
      slots.push(await start(ledger))
      order.push(slots.at(-1)?.taskId ?? '')
    }
    expect(order).toEqual(['big-0', ...small.map((_, index) => `small-${index}`), 'big-1', 'big-2', 'big-3'])
  })

  it('lets nobody who comes wait for more tasks than there are other tenants, whenever they come and however long each task is', async () => {
    const { ledger } = of()
    await Promise.all(Array.from({ length: 60 }, (_, index) => accept(ledger, `big-${index}`, 'i1')))
    const random = seededRandom(12)
    const slots = [await start(ledger), await start(ledger)]
    const waitsFor = new Map<string, number>()
    const late: string[] = []
    for (let round = 0; round < 30; round += 1) {
      for (let coming = random(3); coming > 0; coming -= 1) {
        const taskId = `small-${round}-${coming}`
        await accept(ledger, taskId, `i${2 + round * 3 + coming}`)
        waitsFor.set(taskId, waitsFor.size + 1)
      }
      await end(ledger, slots.splice(random(2), 1)[0] as Claim)
      const claim = await start(ledger)
      slots.push(claim)
      waitsFor.delete(claim.taskId)
      for (const [taskId, left] of waitsFor) {
        waitsFor.set(taskId, left - 1)
        if (left === 0) late.push(taskId)
      }
    }
    expect(late).toEqual([])
  })

  it('starts a task of the tenant that has the fewest running, whoever was served before', async () => {
    const { ledger } = of()
    for (const id of ['a1', 'a2', 'a3']) await accept(ledger, id, 'i1')
    const [first] = [await start(ledger), await start(ledger)]
    for (const id of ['b1', 'b2', 'b3']) await accept(ledger, id, 'i2')
    expect(await starts(ledger, 2)).toEqual(['b1', 'b2'])
    await end(ledger, first)
    expect(await starts(ledger, 2)).toEqual(['a3', 'b3'])
  })

  it('starts one of the tenant that was served longest ago where both have as many running', async () => {
    const { ledger, other } = of()
    for (const id of ['a1', 'a2', 'b1', 'b2', 'c1', 'c2']) await accept(ledger, id, `i${id[0]}`)
    await ledger.claimTask('b1', claimOptions())
    for (const taskId of ['c1', 'a1']) await other.claimTask(taskId, claimOptions())
    expect(await starts(ledger, 3)).toEqual(['b2', 'c2', 'a2'])
  })

  it('counts going on with a lost task as no turn', async () => {
    const { ledger } = of()
    await accept(ledger, 'a1', 'i1')
    await start(ledger)
    await accept(ledger, 'b1', 'i2')
    await ledger.claimNext(claimOptions({ owner: 'worker-2' }))
    const again = await ledger.claimNext(claimOptions({ owner: 'worker-2', deadOwners: ['worker-1'] }))
    expect([again?.taskId, again?.attempt]).toEqual(['a1', 2])
    await accept(ledger, 'b2', 'i2')
    await accept(ledger, 'a2', 'i1')
    expect(await starts(ledger, 2)).toEqual(['a2', 'b2'])
  })

  it('starts the oldest task where nobody was served yet', async () => {
    const { ledger } = of()
    await accept(ledger, 'a1', 'i2')
    await accept(ledger, 'b1', 'i1')
    await accept(ledger, 'a2', 'i2')
    expect(await starts(ledger, 3)).toEqual(['a1', 'b1', 'a2'])
  })

  it('takes lost tasks first, of whatever tenant, by priority and then by acceptance', async () => {
    const { ledger } = of()
    await accept(ledger, 'a1', 'i1', { priority: 3 })
    await accept(ledger, 'a2', 'i1', { priority: 2 })
    await accept(ledger, 'a3', 'i1', { priority: 3 })
    await starts(ledger, 3)
    await accept(ledger, 'b1', 'i2', { priority: 0 })
    const options = claimOptions({ owner: 'worker-2', deadOwners: ['worker-1'] })
    const taken: (string | undefined)[] = []
    for (let turn = 0; turn < 4; turn += 1) taken.push((await ledger.claimNext(options))?.taskId)
    expect(taken).toEqual(['a2', 'a1', 'a3', 'b1'])
  })

  it('puts priority before turns', async () => {
    const { ledger } = of()
    for (const id of ['a1', 'a2']) await accept(ledger, id, 'i1', { priority: 1 })
    await accept(ledger, 'b1', 'i2', { priority: 2 })
    expect(await starts(ledger, 3)).toEqual(['a1', 'a2', 'b1'])
  })

  it('passes over whoever has only busy lanes, to the next tenant and to the next priority', async () => {
    const { ledger } = of()
    await accept(ledger, 'a1', 'i1', { laneKey: 'a' })
    await accept(ledger, 'b1', 'i2', { laneKey: 'b' })
    await accept(ledger, 'b2', 'i2', { laneKey: 'c' })
    await starts(ledger, 3)
    await accept(ledger, 'a2', 'i1', { laneKey: 'a' })
    await accept(ledger, 'b3', 'i2', { laneKey: 'b' })
    await accept(ledger, 'b4', 'i2', { laneKey: 'd' })
    await accept(ledger, 'a3', 'i1', { laneKey: 'e', priority: 2 })
    expect(await starts(ledger, 2)).toEqual(['b4', 'a3'])
    expect(await ledger.claimNext(claimOptions())).toBeNull()
  })

  it.each([-1, 10, 1.5])('refuses a task of the priority %s, which no claim would look at', async priority => {
    const { ledger } = of()
    await expect(accept(ledger, 'T1', 'i1', { priority })).rejects.toMatchObject({ name: 'LedgerAssertion' })
    expect(await ledger.task('T1')).toBeNull()
  })
}
