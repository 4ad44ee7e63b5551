import { userInfo } from 'node:os'
import type { Command } from 'commander'
import type { Environment } from '../config-schema/index.ts'
import { openSqliteLedger } from '../ledger/index.ts'
import { dataFolderOf, makeDataFolder } from './data-folder.ts'
import { toSafeJson } from './escape.ts'
import { UsageError } from './exit.ts'

type Options = { data?: string; json?: boolean }

export function define(command: Command, environment: Environment): void {
  command
    .argument('[order]', '`pull` stops all runs and starts none; `clear` allows them again; nothing: say how it stands')
    .option('--data <dir>', 'the data folder')
    .option('--json', 'print one object')
  command.action((order: string | undefined, options: Options) => turn(order, options, environment))
}

/** The kill switch. Running sessions read it before every model request and every tool call. */
async function turn(order: string | undefined, options: Options, environment: Environment): Promise<void> {
  if (order !== undefined && order !== 'pull' && order !== 'clear')
    throw new UsageError('option-value', 'the switch can be pulled or cleared', ['grokbot switch pull', 'grokbot switch clear'])
  const dataDir = makeDataFolder(dataFolderOf(environment, options.data))
  const ledger = openSqliteLedger({ dataDir, durability: 'durable', clock: Date.now })
  try {
    if (order !== undefined) await ledger.setSwitch('runs', order === 'pull' ? 'pulled' : 'clear', `uid ${userInfo().uid}`)
    const stored = await ledger.switch('runs')
    const state = stored?.value === 'pulled' ? 'pulled' : 'clear'
    const since = stored === null ? null : new Date(stored.at).toISOString()
    if (options.json) process.stdout.write(`${toSafeJson({ switch: 'runs', state, since })}\n`)
    else
      process.stdout.write(`${state === 'pulled' ? `pulled since ${since}: no run starts, running ones end` : 'clear: runs are allowed'}\n`)
  } finally {
    await ledger.close()
  }
}
