import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findChainFault } from '../../domain/index.ts'
import { type Ledger, openSqliteLedger } from '../../ledger/index.ts'
import { seededRandom } from './random.ts'
import { accepted, claimOptions, eventOf, startedAt, taskOf } from './samples.ts'

let dataDir: string
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'grokbot-erase-'))
})
afterEach(() => rmSync(dataDir, { recursive: true }))

const open = (durability: 'durable' | 'process' = 'durable') => openSqliteLedger({ dataDir, durability, clock: () => startedAt })

/** A word that stands in every payload of the task, once in every form a task keeps words in. */
const canaryOf = (taskId: string) => `canary-of-${taskId}-`

async function writeTask(ledger: Ledger, taskId: string, sizes: readonly number[]): Promise<void> {
  const canary = canaryOf(taskId)
  const words = (size: number) => canary.repeat(Math.ceil(size / canary.length) + 1)
  const subject = { kind: 'issue', number: 1, title: canary, body: words(5_000) } as const
  await ledger.recordDelivery({ id: taskId, event: 'e', action: 'a', body: Buffer.from(words(9_000)), receivedAt: startedAt })
  await ledger.acceptTask(taskOf(taskId, { deliveryId: taskId, first: { type: 'task.accepted', payload: { ...accepted, subject } } }))
  await ledger.settleDelivery(taskId, 'settled', '')
  const claim = await ledger.claimTask(taskId, claimOptions())
  if (claim === null) throw new Error('the task could not be claimed')
  const prepared = eventOf('effect.prepared', { effectId: `${taskId}:1`, key: canary, intent: { body: words(3_000) } })
  const events = [
    prepared,
    ...sizes.map(size => eventOf('tool.settled', { result: words(size) })),
    eventOf('task.ended', { summary: canary }),
  ]
  for (const [index, event] of events.entries()) {
    await ledger.append({ ...claim, actor: 'worker:1', at: startedAt, expectedSeq: index + 1, events: [event] })
  }
}

/** Files of the data folder in which the bytes stand. */
function filesWith(bytes: string): string[] {
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  const paths = files.map(({ parentPath, name }) => join(parentPath, name))
  return paths
    .filter(path => readFileSync(path).includes(bytes))
    .map(path => path.slice(dataDir.length + 1))
    .sort()
}

describe('erasing a task', () => {
  it('leaves no byte of its payloads in database, log and files, and nothing of others is touched', async () => {
    const ledger = open()
    const session = open('process')
    await writeTask(ledger, 'T1', [10, 2_000, 30_000, 100_000])
    await writeTask(session, 'T2', [10, 2_000, 30_000, 100_000])
    expect(filesWith(canaryOf('T1'))).toEqual([expect.stringContaining('blobs/T1/'), 'ledger.db-wal'])
    expect(await ledger.eraseTask('T1', 'cli')).toBe('erased')
    expect(filesWith(canaryOf('T1'))).toEqual([])
    expect(filesWith(canaryOf('T2')).length).toBeGreaterThan(1)
    const { entries } = await ledger.readRecord('T1')
    expect(
      findChainFault(
        'T1',
        entries.map(({ header }) => header),
      ),
    ).toBeNull()
    expect(entries.every(({ salt, payload }) => salt === null && payload === null)).toBe(true)
    await session.close()
    await ledger.close()
    expect(filesWith(canaryOf('T1'))).toEqual([])
  })

  it('would leave bytes behind without secure_delete and without emptying the log', async () => {
    const ledger = open()
    await writeTask(ledger, 'T1', [10, 2_000, 30_000])
    const plain = new Database(join(dataDir, 'ledger.db'))
    plain.exec('delete from blobs')
    plain.pragma('wal_checkpoint(TRUNCATE)')
    plain.close()
    expect(filesWith(canaryOf('T1'))).toEqual(['ledger.db'])
    await ledger.close()
  })

  it('leaves no byte of any of many tasks of mixed sizes that were written across each other', async () => {
    const ledger = open()
    const random = seededRandom(7)
    const ids = Array.from({ length: 24 }, (_, index) => `T${index}`)
    for (const taskId of ids)
      await writeTask(
        ledger,
        taskId,
        Array.from({ length: 6 }, () => random(random(2) ? 900 : 34_000)),
      )
    const erased = ids.filter(() => random(2) === 0)
    for (const taskId of erased) expect(await ledger.eraseTask(taskId, 'cli')).toBe('erased')
    expect(erased.filter(taskId => filesWith(canaryOf(taskId)).length > 0)).toEqual([])
    expect(ids.filter(taskId => filesWith(canaryOf(taskId)).length > 0)).toEqual(ids.filter(taskId => !erased.includes(taskId)))
    await ledger.close()
  })

  it('is finished at the next start when a crash cut it off between rows and files', async () => {
    const ledger = open()
    await writeTask(ledger, 'T1', [10, 100_000])
    await ledger.close()
    const crashed = new Database(join(dataDir, 'ledger.db'))
    crashed.pragma('secure_delete = ON')
    crashed.exec(`
      update effects set key = ''; update deliveries set body = null;
      delete from blobs where number in (select blob from events);
      update tasks set "erasedAt" = 5, "erasing" = 1;
    `)
    crashed.close()
    expect(filesWith(canaryOf('T1'))).toEqual([expect.stringContaining('blobs/T1/')])
    await open().close()
    expect(filesWith(canaryOf('T1'))).toEqual([])
    expect(readdirSync(join(dataDir, 'blobs'))).toEqual([])
  })

  it('says so while somebody else still reads the log, and succeeds when asked again', async () => {
    const limits = { busyTimeoutMs: 20, eraseCheckpointsMax: 2 }
    const ledger = openSqliteLedger({ dataDir, durability: 'durable', clock: () => startedAt, limits })
    await writeTask(ledger, 'T1', [10])
    const reader = new Database(join(dataDir, 'ledger.db'))
    reader.exec('begin; select count(*) from events')
    reader.prepare('select count(*) from events').get()
    await expect(ledger.eraseTask('T1', 'cli')).rejects.toThrow('ask again later')
    reader.exec('commit')
    reader.close()
    expect(await ledger.eraseTask('T1', 'cli')).toBe('erased')
    expect(filesWith(canaryOf('T1'))).toEqual([])
    await ledger.close()
  })
})
