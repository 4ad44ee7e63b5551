import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findChainFault, foldTask } from '../../domain/index.ts'
import { type Ledger, openSqliteLedger } from '../../ledger/index.ts'
import { migrations } from '../../ledger/migrations/index.ts'
import { batch } from './contract-scene.ts'
import { claimOptions, eventOf, startedAt, taskOf } from './samples.ts'

/**
 * `test/golden/ledger-migration-1.db.gz` was written by the version that had the first migration only, and closed: T1 ended
 * with an effect, T2 was running, T3 waits behind it, T4 is of another owner, T5 was asked to end, T6 is a refusal.
 */
const golden = join(import.meta.dirname, '..', 'golden', 'ledger-migration-1.db.gz')

describe('a ledger of the first migration', () => {
  let dataDir: string
  let ledger: Ledger
  const file = () => join(dataDir, 'ledger.db')
  beforeEach(() => {
    dataDir = join(mkdtempSync(join(tmpdir(), 'grokbot-old-')), 'data')
    mkdirSync(dataDir)
    writeFileSync(file(), gunzipSync(readFileSync(golden)))
    expect(only('pragma user_version')).toBe(1)
    ledger = openSqliteLedger({ dataDir, durability: 'durable', clock: () => startedAt + 60_000 })
  })
  afterEach(async () => {
    await ledger.close()
    rmSync(join(dataDir, '..'), { recursive: true })
  })

  function only(sql: string): unknown {
    const database = new Database(file(), { readonly: true })
    try {
      return Object.values(database.prepare(sql).get() as object)[0]
    } finally {
      database.close()
    }
  }

  it('is brought up to today’s and is whole', async () => {
    expect([only('pragma user_version'), only('pragma integrity_check')]).toEqual([migrations.length, 'ok'])
    const rows = await ledger.tasks({ limit: 10 })
    expect(rows.map(({ taskId, state, outcome }) => [taskId, state, outcome])).toEqual([
      ['T6', 'waiting', null],
      ['T5', 'waiting', null],
      ['T4', 'waiting', null],
      ['T3', 'waiting', null],
      ['T2', 'running', null],
      ['T1', 'ended', 'succeeded'],
    ])
    for (const { taskId } of rows) {
      const headers = (await ledger.readRecord(taskId)).entries.map(({ header }) => header)
      expect(findChainFault(taskId, headers), taskId).toBeNull()
    }
    expect(await ledger.queueFigures()).toEqual({
      waiting: 3,
      running: 1,
      waitingByTenant: [
        { tenantKey: 'octo/pager', waiting: 2 },
        { tenantKey: 'other/tool', waiting: 1 },
      ],
      oldestWaitingMs: 60_000,
      pendingDeliveries: 1,
      oldestDeliveryMs: 60_000,
      effectsInFlight: 0,
      effectsUnknown: 0,
    })
  })

  it('goes on: what was lost is taken over, tenants take turns, old and new ones alike', async () => {
    const options = claimOptions({ now: startedAt + 60_000, owner: 'worker-2' })
    await ledger.acceptTask(taskOf('new', { tenantKey: 'i99' }))
    await ledger.acceptTask(taskOf('newer', { tenantKey: 'i99' }))
    const claims: string[] = []
    for (let claim = await ledger.claimNext(options); claim !== null; claim = await ledger.claimNext(options))
      claims.push(`${claim.taskId}/${claim.attempt}`)
    // T3's lane is busy until T2 has ended, and its tenant has had one running from the start.
    expect(claims).toEqual(['T2/2', 'T4/1', 'new/1', 'T5/1', 'newer/1'])
    await ledger.append(batch(2, 4, [eventOf('attempt.started'), eventOf('task.ended')], 'T2'))
    expect(await ledger.claimNext(options)).toMatchObject({ taskId: 'T3', attempt: 1 })
    expect(foldTask(await ledger.readEvents('T2'))).toMatchObject({ outcome: { outcome: 'succeeded' }, spent: { costMicroUsd: 4_200 } })
    const budget = await ledger.budget('repository:42:2027-01-15')
    expect(budget).toEqual({ key: 'repository:42:2027-01-15', reservedMicroUsd: 0, spentMicroUsd: 8_400 })
  })

  it('knows who was asked to end before, and has lost nothing but the row of the old probe', async () => {
    const lengths = async () => [(await ledger.task('T5'))?.lastSeq, (await ledger.task('T4'))?.lastSeq]
    const [asked = 0, open = 0] = await lengths()
    const supersedes = { by: '@mona', reason: 'a newer one' }
    for (const laneKey of ['42#13', '43#1']) await ledger.acceptTask(taskOf(`newer-${laneKey.slice(0, 2)}`, { laneKey, supersedes }))
    expect(await lengths()).toEqual([asked, open + 1])
    expect([await ledger.switch('written'), await ledger.switch('runs')]).toEqual([null, { value: 'clear', at: startedAt }])
    await ledger.probeWrite('serve-2')
    expect(await ledger.recordDelivery({ id: 'guid-1', event: 'e', action: 'a', body: Buffer.from('{}'), receivedAt: 1 })).toBe('known')
  })
})
