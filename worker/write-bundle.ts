import { rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { foldTask, receiptTypes } from '../domain/index.ts'
import { crashpoint } from '../telemetry/index.ts'
import type { WorkerPorts } from './ports.ts'

export function bundlePath(taskDir: string): string {
  return path.join(taskDir, 'bundle.json')
}

/** The proof of a task as one file, made from the ledger alone: the same ledger always gives the same bytes. */
export async function writeTaskBundle(taskId: string, taskDir: string, { ledger }: Pick<WorkerPorts, 'ledger'>): Promise<void> {
  const record = await ledger.readRecord(taskId)
  const wanted = new Set<string>(receiptTypes)
  const entries = record.entries.map(({ header, salt, payload }) => ({
    header,
    salt: wanted.has(header.type) && salt ? Buffer.from(salt).toString('hex') : null,
    payload: wanted.has(header.type) && payload ? Buffer.from(payload).toString('base64') : null,
  }))
  const state = foldTask(await ledger.readEvents(taskId))
  const manifest = {
    format: 'grokbot bundle v1',
    taskId,
    outcome: state.outcome?.outcome ?? null,
    commit: state.commit ? { sha: state.commit.sha, tree: state.commit.tree, parent: state.commit.parent } : null,
    headHash: record.entries.at(-1)?.header.hash ?? null,
  }
  const file = bundlePath(taskDir)
  crashpoint('bundle.beforeWrite')
  await writeFile(`${file}.part`, `${JSON.stringify({ manifest, entries, signature: null }, null, 1)}\n`)
  await rename(`${file}.part`, file)
  crashpoint('bundle.afterWrite')
}
