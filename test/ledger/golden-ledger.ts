import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EventHeader, eventTypes } from '../../domain/index.ts'
import { openSqliteLedger } from '../../ledger/index.ts'
import { claimOptions, eventOf, payloads, startedAt, taskOf } from './samples.ts'

export type GoldenEntry = { header: EventHeader & { hash: string }; salt: string; payload: string }
export type GoldenLedger = { taskId: string; entries: GoldenEntry[] }

export const goldenPath = join(import.meta.dirname, '..', 'golden', 'ledger-v1.json')

/** The tasks of the golden file, written by today's code with fixed salts and times: one accepted, one refused. */
export async function writeGoldenLedgers(): Promise<GoldenLedger[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'grokbot-golden-'))
  const ledger = openSqliteLedger({ dataDir, durability: 'process', clock: () => startedAt, salt: countedSalts() })
  try {
    await ledger.acceptTask(taskOf('01J0GOLDEN0000000000000001'))
    const claim = await ledger.claimTask('01J0GOLDEN0000000000000001', claimOptions())
    if (claim === null) throw new Error('the golden task could not be claimed')
    const order = eventTypes.filter(type => type !== 'task.accepted' && type !== 'task.refused')
    for (const [index, type] of order.entries()) {
      const at = startedAt + 1000 * (index + 1)
      await ledger.append({ ...claim, actor: 'worker:1', at, expectedSeq: index + 1, events: [eventOf(type)] })
    }
    const first = { type: 'task.refused', payload: payloads['task.refused'] } as const
    await ledger.acceptTask(taskOf('01J0GOLDEN0000000000000002', { needsWorker: false, first }))
    return [await read('01J0GOLDEN0000000000000001'), await read('01J0GOLDEN0000000000000002')]
  } finally {
    await ledger.close()
    rmSync(dataDir, { recursive: true })
  }

  async function read(taskId: string): Promise<GoldenLedger> {
    const { entries } = await ledger.readRecord(taskId)
    return {
      taskId,
      entries: entries.map(({ header, salt, payload }) => ({
        header,
        salt: Buffer.from(salt ?? []).toString('hex'),
        payload: Buffer.from(payload ?? []).toString('utf8'),
      })),
    }
  }
}

/** The n-th salt is the first half of the SHA-256 of n. */
function countedSalts(): () => Uint8Array {
  let count = 0
  return () => {
    count += 1
    return createHash('sha256').update(String(count)).digest().subarray(0, 16)
  }
}
