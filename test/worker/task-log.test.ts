import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { foldTask } from '../../domain/index.ts'
import { openSqliteLedger } from '../../ledger/index.ts'
import { openTaskLog } from '../../worker/task-log.ts'
import { claimOptions, eventOf, taskOf } from '../ledger/samples.ts'

test('reading on through many events of others, while appending, folds each of them once', async () => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'grokbot-log-'))
  const open = () => openSqliteLedger({ dataDir, durability: 'process', clock: () => 1 })
  const [ledger, other] = [open(), open()]
  onTestFinished(async () => {
    await Promise.all([ledger.close(), other.close()])
    rmSync(dataDir, { recursive: true, force: true })
  })
  await ledger.acceptTask(taskOf('T1'))
  await ledger.claimTask('T1', claimOptions())
  const log = await openTaskLog(ledger, { taskId: 'T1', attempt: 1, actor: 'worker-1', now: () => 1 })
  const events = Array.from({ length: 900 }, (_, index) => eventOf('taint.raised', { detail: String(index) }))
  await other.append({ taskId: 'T1', attempt: 1, actor: 'session', at: 1, expectedSeq: 1, events })
  await Promise.all([log.refresh(), log.record(eventOf('snapshot.taken')), log.refresh()])
  expect(log.state()).toEqual(foldTask(await other.readEvents('T1')))
  expect(log.state().taint).toHaveLength(900)
})
