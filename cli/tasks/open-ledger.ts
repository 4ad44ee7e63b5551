import type { Environment } from '../../config-schema/index.ts'
import { type Ledger, openSqliteLedger, type TaskRow } from '../../ledger/index.ts'
import { findDataFolder } from '../data-folder.ts'
import { escapeText } from '../escape.ts'
import { UsageError } from '../exit.ts'

export type OpenedLedger = { ledger: Ledger; dataDir: string }

/** Opens the ledger that is there, for one sub-command, and closes it again. `durable` is for those that write. */
export async function withLedger<Result>(
  environment: Environment,
  { data, durability = 'process' }: { data: string | undefined; durability?: 'durable' | 'process' },
  work: (opened: OpenedLedger) => Promise<Result>,
): Promise<Result> {
  const dataDir = findDataFolder(environment, data)
  const ledger = openSqliteLedger({ dataDir, durability, clock: Date.now })
  try {
    return await work({ ledger, dataDir })
  } finally {
    await ledger.close()
  }
}

/** The task of that name. Throws `UsageError` when there is none. */
export async function findTask({ ledger, dataDir }: OpenedLedger, taskId: string): Promise<TaskRow> {
  const row = await ledger.task(taskId)
  if (row) return row
  throw new UsageError('task-unknown', `there is no task ${escapeText(taskId)} in ${escapeText(dataDir)}`)
}
