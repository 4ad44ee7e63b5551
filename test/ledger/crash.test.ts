import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findChainFault, foldTask, hashPayload } from '../../domain/index.ts'
import { openSqliteLedger } from '../../ledger/index.ts'
import { claimOptions, eventOf, startedAt, taskOf } from './samples.ts'

let dataDir: string
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'grokbot-crash-'))
})
afterEach(() => rmSync(dataDir, { recursive: true }))

describe('a writer that is killed', () => {
  it('leaves everything it was told is stored, whole, in both modes', { timeout: 90_000 }, async () => {
    let told = 0
    const kills = [
      ['durable', 1],
      ['process', 30],
      ['durable', 15],
    ] as const
    for (const [durability, acksMax] of kills) {
      told = await writeUntilKilled(dataDir, durability, acksMax)
      expect(checkIntegrity(dataDir)).toBe('ok')
      const ledger = openSqliteLedger({ dataDir, durability: 'durable', clock: () => startedAt })
      const { entries } = await ledger.readRecord('T1')
      const events = await ledger.readEvents('T1')
      await ledger.close()
      expect(entries.length).toBeGreaterThanOrEqual(told)
      // Events of one append are there together or not at all.
      expect(entries.length % 2).toBe(1)
      expect(
        findChainFault(
          'T1',
          entries.map(({ header }) => header),
        ),
      ).toBeNull()
      expect(entries.map(({ salt, payload }) => hashPayload(salt as Uint8Array, payload as Uint8Array))).toEqual(
        entries.map(({ header }) => header.payloadHash),
      )
      expect(foldTask(events).seq).toBe(entries.length)
    }
    expect(told).toBeGreaterThan(80)
  })
})

describe('a write-ahead log that ends anywhere', () => {
  it('loses whole appends from the end and never a part of one', async () => {
    const source = openSqliteLedger({ dataDir, durability: 'process', clock: () => startedAt, limits: { checkpointPagesOfProcess: 0 } })
    await source.acceptTask(taskOf('T1'))
    await source.claimTask('T1', claimOptions())
    for (let seq = 1; seq < 9; seq += 2) {
      await source.append({
        taskId: 'T1',
        attempt: 1,
        actor: 'w',
        at: seq,
        expectedSeq: seq,
        events: [eventOf('taint.raised'), eventOf('snapshot.taken')],
      })
    }
    const log = readFileSync(join(dataDir, 'ledger.db-wal'))
    const database = readFileSync(join(dataDir, 'ledger.db'))
    await source.close()
    const found = new Set<number>()
    for (let cut = log.length; cut > 0; cut -= 2_917) found.add(await eventsAfterCut(database, log, cut))
    expect([...found].filter(events => events % 2 === 0 && events > 0)).toEqual([])
    expect(found.size).toBeGreaterThan(3)
  })
})

describe('a disk that takes no more', () => {
  it('refuses whole groups, keeps what it answered before, and goes on when there is room again', async () => {
    // A limit on the size of a file stands for the full disk; its signal is ignored, so that writing fails instead.
    const script = join(import.meta.dirname, 'disk-full-writer.ts')
    const command = `trap '' XFSZ; ulimit -f 4000; exec "$0" "$1" "$2"`
    const { stdout, stderr } = spawnSync('bash', ['-c', command, process.execPath, script, dataDir], { encoding: 'utf8' })
    expect(stderr).toBe('')
    const lines = stdout.trim().split('\n')
    const stored = lines.filter(line => line.endsWith(' stored'))
    expect(lines.slice(stored.length, -1)).toEqual(
      Array.from({ length: 8 }, () => expect.stringMatching(/^guid-\d+ LedgerUnavailable SQLITE_/)),
    )
    expect(lines.at(-1)).toBe(`pending ${stored.length}`)
    expect(stored.length).toBeGreaterThan(8)
    expect(checkIntegrity(dataDir)).toBe('ok')
    const ledger = openSqliteLedger({ dataDir, durability: 'durable', clock: () => startedAt })
    expect(await ledger.pendingDeliveries(100_000)).toHaveLength(stored.length)
    expect(await ledger.recordDelivery({ id: 'after', event: 'e', action: 'a', body: Buffer.alloc(50_000), receivedAt: 2 })).toBe(
      'recorded',
    )
    await ledger.close()
  })
})

describe('the order of system calls', () => {
  it.each([
    ['durable', { answers: 20, beforeSync: 0 }],
    // What the control is worth: without FULL every answer is sent before its bytes are on the disk.
    ['process', { answers: 20, beforeSync: 20 }],
  ] as const)('in %s mode is %o', (durability, expected) => {
    expect(traceDeliveries(dataDir, durability, 20, 1)).toMatchObject(expected)
  })

  it('has the file of a large payload, and its name, synced before the row that needs it is written', () => {
    const traceFile = join(dataDir, 'trace')
    const writer = join(import.meta.dirname, 'large-payload-writer.ts')
    const calls = 'trace=write,pwrite64,fsync,fdatasync'
    const { status } = spawnSync('strace', ['-f', '-qq', '-y', '-o', traceFile, '-e', calls, process.execPath, writer, dataDir])
    expect(status).toBe(0)
    const lines = readFileSync(traceFile, 'utf8').split('begin\\n')[1]?.split('\n') ?? []
    const first = (pattern: RegExp) => lines.findIndex(line => pattern.test(line))
    const order = [
      /sync\(\d+<[^>]*\/blobs\/T1\/[0-9a-f]{64}>/,
      /sync\(\d+<[^>]*\/blobs\/T1>/,
      /pwrite64\(\d+<[^>]*-wal>/,
      /"answer\\n"/,
    ].map(first)
    expect(order.every(index => index >= 0)).toBe(true)
    expect(order).toEqual([...order].sort((a, b) => a - b))
  })

  it('has one sync for many deliveries that come together', () => {
    const { syncs, ...answers } = traceDeliveries(dataDir, 'durable', 200, 200)
    expect(answers).toEqual({ answers: 200, beforeSync: 0 })
    expect(syncs).toBe(1)
  })
})

async function writeUntilKilled(folder: string, durability: string, acksMax: number): Promise<number> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'crash-writer.ts'), folder, durability], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  let acks = 0
  child.stdout.on('data', chunk => {
    output += chunk
    acks = output.split('\n').length - 1
    if (acks >= acksMax) child.kill('SIGKILL')
  })
  const [, signal] = await once(child, 'close')
  expect(signal).toBe('SIGKILL')
  return Number(output.split('\n').at(-2))
}

function checkIntegrity(folder: string): unknown {
  const database = new Database(join(folder, 'ledger.db'))
  try {
    expect(database.pragma('foreign_key_check')).toEqual([])
    return database.pragma('integrity_check', { simple: true })
  } finally {
    database.close()
  }
}

/** How many events a ledger has whose log was cut off, as by a power loss. */
async function eventsAfterCut(database: Buffer, log: Buffer, cut: number): Promise<number> {
  const folder = join(dataDir, `cut-${cut}`)
  mkdirSync(folder)
  writeFileSync(join(folder, 'ledger.db'), database)
  writeFileSync(join(folder, 'ledger.db-wal'), log.subarray(0, cut))
  expect(checkIntegrity(folder)).toBe('ok')
  const ledger = openSqliteLedger({ dataDir: folder, durability: 'durable', clock: () => startedAt })
  const task = await ledger.task('T1')
  const headers = task === null ? [] : (await ledger.readRecord('T1')).entries.map(({ header }) => header)
  await ledger.close()
  expect(findChainFault('T1', headers)).toBeNull()
  return headers.length
}

type Trace = { answers: number; beforeSync: number; syncs: number }

/** Reads a trace of a child's system calls: was the log synced between its last write and each answer? */
function traceDeliveries(folder: string, durability: string, deliveries: number, together: number): Trace {
  const traceFile = join(folder, 'trace')
  const writer = [join(import.meta.dirname, 'delivery-writer.ts'), folder, durability, String(deliveries), String(together)]
  const strace = ['-f', '-qq', '-y', '-o', traceFile, '-e', 'trace=write,pwrite64,fsync,fdatasync', process.execPath, ...writer]
  const { status, stderr } = spawnSync('strace', strace, { encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  const trace: Trace = { answers: 0, beforeSync: 0, syncs: 0 }
  let unsynced = false
  let begun = false
  for (const line of readFileSync(traceFile, 'utf8').split('\n')) {
    if (line.includes('"begin\\n"')) begun = true
    if (!begun) continue
    if (/pwrite64\(\d+<[^>]*-wal>/.test(line)) unsynced = true
    if (/f(data)?sync\(\d+<[^>]*-wal>/.test(line)) {
      unsynced = false
      trace.syncs += 1
    }
    if (line.includes('"answer\\n"')) {
      trace.answers += 1
      if (unsynced) trace.beforeSync += 1
    }
  }
  return trace
}
