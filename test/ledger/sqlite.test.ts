import { mkdtempSync, readdirSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { UnknownEvent } from '../../domain/index.ts'
import { LedgerAssertion, LedgerUnavailable, openSqliteLedger, type SqliteLedgerOptions } from '../../ledger/index.ts'
import { claimOptions, eventOf, startedAt, taskOf } from './samples.ts'

/** What is true of the SQLite driver alone. */
let dataDir: string
beforeEach(() => {
  dataDir = join(mkdtempSync(join(tmpdir(), 'grokbot-sqlite-')), 'data')
})
afterEach(() => rmSync(join(dataDir, '..'), { recursive: true }))

const open = (options: Partial<SqliteLedgerOptions> = {}) =>
  openSqliteLedger({ dataDir, durability: 'durable', clock: () => startedAt, ...options })
const file = (...names: string[]) => join(dataDir, ...names)
const delivery = { id: 'guid', event: 'e', action: 'a', body: Buffer.from('{}'), receivedAt: startedAt }

function withDatabase<Result>(work: (database: Database.Database) => Result): Result {
  const database = new Database(file('ledger.db'))
  try {
    return work(database)
  } finally {
    database.close()
  }
}

async function writeTask(result: string): Promise<void> {
  const ledger = open()
  await ledger.acceptTask(taskOf('T1'))
  await ledger.claimTask('T1', claimOptions())
  await ledger.append({ taskId: 'T1', attempt: 1, actor: 'w', at: 1, expectedSeq: 1, events: [eventOf('tool.settled', { result })] })
  await ledger.close()
}

describe('the files of a SQLite ledger', () => {
  it('are for their owner’s eyes only', async () => {
    await writeTask('x'.repeat(50_000))
    const ledger = open()
    const modes = [[], ['ledger.db'], ['ledger.db-wal'], ['ledger.db-shm'], ['blobs'], ['blobs', 'T1']].map(
      names => statSync(file(...names)).mode & 0o777,
    )
    expect(modes).toEqual([0o700, 0o600, 0o600, 0o600, 0o700, 0o700])
    await ledger.close()
  })

  it('keep everything over a close and an opening', async () => {
    await writeTask('kept')
    const ledger = open()
    expect(await ledger.task('T1')).toMatchObject({ state: 'running', lastSeq: 2 })
    expect((await ledger.readEvents('T1', 1))[0]?.payload).toMatchObject({ result: 'kept' })
    await ledger.close()
  })

  it('are opened by several connections of a new folder at the same time', async () => {
    const ledgers = await Promise.all(Array.from({ length: 5 }, async () => open()))
    expect(await Promise.all(ledgers.map(ledger => ledger.recordDelivery(delivery)))).toContain('recorded')
    for (const ledger of ledgers) await ledger.close()
  })

  it('are refused when a newer version wrote them', async () => {
    await open().close()
    withDatabase(database => database.pragma('user_version = 99'))
    expect(() => open()).toThrow(
      expect.objectContaining({ cause: expect.objectContaining({ message: expect.stringContaining('newer version') }) }),
    )
  })

  it('are refused when they are no database', async () => {
    await open().close()
    for (const name of ['ledger.db', 'ledger.db-wal', 'ledger.db-shm']) rmSync(file(name), { force: true })
    writeFileSync(file('ledger.db'), 'not a database, but long enough to be taken for one'.repeat(100))
    expect(() => open()).toThrow('can not be opened')
  })
})

describe('a stored event that can not be read', () => {
  it.each([
    ['of a later version', { version: 2 }],
    ['of a type nobody knows', { type: 'task.vanished' }],
  ])('is named when it is %s', async (_, change) => {
    await writeTask('x')
    const [[column, value]] = Object.entries(change) as [[string, unknown]]
    withDatabase(database => database.prepare(`update events set ${column} = ? where seq = 2`).run(value))
    const ledger = open()
    await expect(ledger.readEvents('T1')).rejects.toBeInstanceOf(UnknownEvent)
    await ledger.close()
  })

  it.each([
    ['its payload is gone and nobody erased it', () => withDatabase(database => database.exec('delete from blobs where number = 2'))],
    ['its file is gone', () => unlinkOnly('blobs', 'T1')],
    ['its file was cut off', () => writeFileSync(onlyFile('blobs', 'T1'), 'x')],
  ])('is an assertion when %s', async (_, damage) => {
    await writeTask('x'.repeat(50_000))
    damage()
    const ledger = open()
    await expect(ledger.readEvents('T1')).rejects.toBeInstanceOf(LedgerAssertion)
    await ledger.close()
  })
})

describe('a database that somebody else holds', () => {
  it('is waited for, and then reported with its cause', async () => {
    const ledger = open({ limits: { busyTimeoutMs: 30 } })
    const holder = new Database(file('ledger.db'))
    holder.exec('begin immediate')
    const failure = await ledger.recordDelivery(delivery).catch(error => error)
    expect(failure).toBeInstanceOf(LedgerUnavailable)
    expect(failure.cause).toMatchObject({ code: 'SQLITE_BUSY' })
    // Reading is not held up.
    expect(await ledger.pendingDeliveries(1)).toEqual([])
    holder.exec('commit')
    holder.close()
    expect(await ledger.recordDelivery(delivery)).toBe('recorded')
    await ledger.close()
  })

  it('fails a probe, which leaves one row however often it is written', async () => {
    let now = startedAt
    const ledger = open({ clock: () => now, limits: { busyTimeoutMs: 30 } })
    await ledger.probeWrite('serve-1')
    now += 1
    await ledger.probeWrite('serve-2')
    const holder = new Database(file('ledger.db'))
    holder.exec('begin immediate')
    await expect(ledger.probeWrite('serve-3')).rejects.toBeInstanceOf(LedgerUnavailable)
    expect(holder.prepare('select "owner", "at" from "probes"').all()).toEqual([{ owner: 'serve-2', at: startedAt + 1 }])
    holder.close()
    await ledger.close()
  })

  it('lets no more writes wait than the limit says', async () => {
    const ledger = open({ limits: { waitingWritesMax: 3 } })
    const asked = [1, 2, 3, 4].map(number => ledger.recordDelivery({ ...delivery, id: String(number) }))
    const results = await Promise.allSettled(asked)
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected'])
    expect((results[3] as PromiseRejectedResult).reason).toBeInstanceOf(LedgerUnavailable)
    await ledger.close()
  })

  it('commits on closing what was still waiting', async () => {
    const ledger = open()
    const asked = ledger.recordDelivery(delivery)
    await ledger.close()
    expect(await asked).toBe('recorded')
    const again = open()
    expect(await again.pendingDeliveries(10)).toHaveLength(1)
    await again.close()
  })
})

function onlyFile(...folder: string[]): string {
  const [name] = withFiles(...folder)
  return file(...folder, name ?? 'none')
}

function unlinkOnly(...folder: string[]): void {
  unlinkSync(onlyFile(...folder))
}

function withFiles(...folder: string[]): string[] {
  return readdirSync(file(...folder))
}
