import { rm } from 'node:fs/promises'
import path from 'node:path'
import { namesIn } from './names-in.ts'
import { type BundlePorts, bundlePath, writeTaskBundle } from './write-bundle.ts'

/**
 * What lies beside the ledger, after `eraseTask` there: the bundle is made anew, with the headers and a tombstone in
 * place of every payload, and everything else in the task's folder goes. Safe to repeat.
 */
export async function eraseTaskFiles(taskId: string, taskDir: string, ports: BundlePorts): Promise<'signed' | 'unsigned' | 'none'> {
  const written = await writeTaskBundle(taskId, taskDir, ports)
  const kept = written === 'none' ? null : path.basename(bundlePath(taskDir))
  for (const name of await namesIn(taskDir)) if (name !== kept) await rm(path.join(taskDir, name), { recursive: true, force: true })
  return written
}
