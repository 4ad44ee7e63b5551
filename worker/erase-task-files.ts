import { rm } from 'node:fs/promises'
import { patchPath } from './end-task.ts'
import { type BundlePorts, writeTaskBundle } from './write-bundle.ts'

/**
 * What lies beside the ledger, after `eraseTask` there: the patch goes, and the bundle is made anew, with the headers and
 * a tombstone in place of every payload. Safe to repeat.
 */
export async function eraseTaskFiles(taskId: string, taskDir: string, ports: BundlePorts): Promise<'signed' | 'unsigned' | 'none'> {
  await rm(patchPath(taskDir), { force: true })
  return await writeTaskBundle(taskId, taskDir, ports)
}
