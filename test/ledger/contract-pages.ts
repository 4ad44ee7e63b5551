import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { foldTask } from '../../domain/index.ts'
import { foldRecorded, type Ledger } from '../../ledger/index.ts'
import { ledgerLimits } from '../../ledger/limits.ts'
import { batch, type Each, running } from './contract-scene.ts'
import { eventOf } from './samples.ts'

/** Long records, which are read in pages. */
export function pages({ of }: Each): void {
  const { pageEventsMax, pageBytesMax } = ledgerLimits
  const length = 3 * pageEventsMax + 7
  /** A task of so many events, of which it holds the newest attempt. */
  async function fill(ledger: Ledger, events = length): Promise<void> {
    await running(ledger)
    const taints = Array.from({ length: events - 1 }, (_, index) => eventOf('taint.raised', { detail: String(index) }))
    await ledger.append(batch(1, 1, taints))
  }
  /** How often others had their turn while something was done. */
  async function turnsDuring<Result>(work: Promise<Result>): Promise<{ result: Result; turns: number }> {
    let done = false
    let turns = 0
    const counting = (async () => {
      while (!done) {
        await setImmediate()
        turns += 1
      }
    })()
    const result = await work
    const counted = turns
    done = true
    await counting
    return { result, turns: counted }
  }

  it('reads a long task whole and in order, from any place and to any length', async () => {
    const { ledger, other } = of()
    await fill(ledger)
    const seqs = Array.from({ length }, (_, index) => index + 1)
    const all = await other.readEvents('T1')
    expect(all.map(({ seq }) => seq)).toEqual(seqs)
    expect((await other.readRecord('T1')).entries.map(({ header }) => header.hash)).toEqual(all.map(({ hash }) => hash))
    for (const [after, limit] of [
      [pageEventsMax - 1, 2],
      [5, pageEventsMax],
      [0, 2 * pageEventsMax],
      [length - 3, 10],
      [length, 1],
      [1, 0],
    ] as const) {
      const read = (await other.readEvents('T1', after, limit)).map(({ seq }) => seq)
      expect(read, `${limit} after ${after}`).toEqual(seqs.slice(after, after + limit))
    }
  })

  it('lets others have their turn between two pages, and does not make a short task wait for them', async () => {
    const { ledger } = of()
    await fill(ledger)
    const long = [turnsDuring(ledger.readEvents('T1')), turnsDuring(ledger.readRecord('T1')), turnsDuring(foldRecorded(ledger, 'T1'))]
    for (const { turns } of await Promise.all<{ turns: number }>(long)) expect(turns).toBeGreaterThanOrEqual(3)
    expect(await turnsDuring(ledger.readEvents('T1', 0, pageEventsMax))).toMatchObject({ turns: 0 })
  })

  it('lets others have their turn after large payloads too', async () => {
    const { ledger } = of()
    await running(ledger)
    const large = eventOf('tool.settled', { result: 'x'.repeat(pageBytesMax) })
    for (const seq of [1, 2, 3]) await ledger.append(batch(1, seq, [large]))
    expect((await turnsDuring(ledger.readEvents('T1'))).turns).toBeGreaterThanOrEqual(2)
  })

  it('reads what there was when it began, however much is appended meanwhile', async () => {
    const { ledger } = of()
    await fill(ledger)
    const reading = ledger.readEvents('T1')
    await setImmediate()
    await ledger.append(
      batch(
        1,
        length,
        Array.from({ length: 300 }, () => eventOf('taint.raised')),
      ),
    )
    expect(await reading).toHaveLength(length)
    expect(await ledger.readEvents('T1')).toHaveLength(length + 300)
  })

  it('reads a task that is erased meanwhile as wholly erased', async () => {
    const { ledger, other } = of()
    await fill(ledger)
    await ledger.append(batch(1, length, [eventOf('task.ended')]))
    const reading = [ledger.readEvents('T1'), ledger.readRecord('T1').then(({ entries }) => entries)]
    await setImmediate()
    expect(await other.eraseTask('T1', 'cli')).toBe('erased')
    for (const entries of await Promise.all<{ payload: unknown }[]>(reading)) {
      expect(entries).toHaveLength(length + 1)
      expect(entries.filter(({ payload }) => payload !== null)).toEqual([])
    }
  })

  it('folds a long task in pages to what it folds to at once, and goes on from there', async () => {
    const { ledger } = of()
    await fill(ledger)
    const state = await foldRecorded(ledger, 'T1')
    expect(state).toEqual(foldTask(await ledger.readEvents('T1')))
    await ledger.append(batch(1, length, [eventOf('snapshot.taken')]))
    expect(await foldRecorded(ledger, 'T1', state)).toEqual(foldTask(await ledger.readEvents('T1')))
  })
}
