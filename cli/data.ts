import { readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import path from 'node:path'
import type { Command } from 'commander'
import type { Environment } from '../config-schema/index.ts'
import { createLogger } from '../telemetry/index.ts'
import { eraseTaskFiles, openSigner, type Signer, taskFolder } from '../worker/index.ts'
import { escapeText, toSafeJson } from './escape.ts'
import { exitCodes, Refusal } from './exit.ts'
import { readOperator } from './read-operator.ts'
import { chainText, checkChain } from './tasks/check-chain.ts'
import { findTask, withLedger } from './tasks/open-ledger.ts'
import { outFilesOf } from './tasks/out-files-of.ts'

type EraseOptions = { data?: string; json?: boolean }
type ExportOptions = { data?: string; out?: string }

export function define(command: Command, environment: Environment): void {
  command
    .command('erase')
    .argument('<task>')
    .description('erase every content of an ended task; its headers stay and still verify')
    .option('--data <dir>', 'the data folder')
    .option('--json', 'print one object')
    .action((taskId: string, options: EraseOptions) => erase(taskId, options, environment))
  command
    .command('export')
    .argument('<task>')
    .description('everything that is kept of a task, as one JSON object')
    .option('--out <file>', 'write it there; default: standard output')
    .option('--data <dir>', 'the data folder')
    .action((taskId: string, options: ExportOptions) => exportTask(taskId, options, environment))
}

async function erase(taskId: string, options: EraseOptions, environment: Environment): Promise<void> {
  await withLedger(environment, { data: options.data, durability: 'durable' }, async opened => {
    await findTask(opened, taskId)
    const signer = signerForErasing(opened.dataDir, environment)
    const answer = await opened.ledger.eraseTask(taskId, `uid ${userInfo().uid}`)
    const shown = escapeText(taskId)
    if (answer !== 'erased')
      throw new Refusal('task-open', `${shown} has not ended, so it can not be erased`, [`stop it first: grokbot stop ${shown}`])
    for (const folder of taskFolders(opened.dataDir, taskId)) await rm(folder, { recursive: true, force: true })
    const ports = { ledger: opened.ledger, signer, logger: createLogger(environment.LOG_LEVEL ?? 'warn') }
    const bundle = await eraseTaskFiles(taskId, taskFolder(opened.dataDir, taskId), ports)
    const chain = checkChain(await opened.ledger.readRecord(taskId))
    if (options.json) process.stdout.write(`${toSafeJson({ taskId, erased: true, chain, bundle })}\n`)
    else
      process.stdout.write(
        `${shown} is erased; ${chainText(chain)}\nkept elsewhere: what was delivered to GitHub, and copies in a repository's .grok/out\n`,
      )
    if (chain.kind === 'broken') process.exitCode = exitCodes.failed
  })
}

/** A key that can not be used must not keep anybody's data from being erased: the bundle's rest is then unsigned. */
function signerForErasing(dataDir: string, environment: Environment): Signer | null {
  const command = readOperator(environment, dataDir).operator.signing
  const opened = openSigner({ dataDir, environmentKey: environment.GROKBOT_SIGNING_KEY, command })
  return opened.kind === 'ready' ? opened.signer : null
}

/** What of one task lies outside its own folder: its trees, and what a dead process may have left of a run. */
function taskFolders(dataDir: string, taskId: string): string[] {
  return [path.join(dataDir, 'git', 'tasks', taskId), path.join(dataDir, 'runs', taskId)]
}

async function exportTask(taskId: string, options: ExportOptions, environment: Environment): Promise<void> {
  await withLedger(environment, { data: options.data }, async opened => {
    const task = await findTask(opened, taskId)
    const record = await opened.ledger.readRecord(taskId)
    const { patch, bundle } = outFilesOf(opened.dataDir, taskId)
    const exported = {
      format: 'grokbot export v1',
      task,
      chain: checkChain(record),
      events: record.entries.map(({ header, salt, payload }) => ({
        header,
        salt: salt ? Buffer.from(salt).toString('hex') : null,
        payload: payload ? JSON.parse(Buffer.from(payload).toString('utf8')) : null,
      })),
      files: {
        patch: patch ? readFileSync(patch).toString('base64') : null,
        bundle: bundle ? JSON.parse(readFileSync(bundle, 'utf8')) : null,
      },
    }
    const text = `${toSafeJson(exported)}\n`
    if (options.out === undefined) process.stdout.write(text)
    // It holds everything the task read: for its owner's eyes only, and never over a file that is there.
    else await writeFile(options.out, text, { mode: 0o600, flag: 'wx' })
  })
}
