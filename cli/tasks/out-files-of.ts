import { existsSync, readFileSync } from 'node:fs'
import { bundlePath, patchPath, taskFolder } from '../../worker/index.ts'
import type { OutFiles } from '../run/out-folder.ts'

/** The files of a task as they lie in the data folder. */
export function outFilesOf(dataDir: string, taskId: string): OutFiles {
  const folder = taskFolder(dataDir, taskId)
  const there = (file: string) => (existsSync(file) ? file : null)
  return { patch: there(patchPath(folder)), bundle: there(bundlePath(folder)), problem: null }
}

/** Whether a bundle of ours carries a signature; a file that is no bundle carries none. */
export function isSigned(bundle: string | null): boolean {
  if (bundle === null) return false
  const parsed: unknown = JSON.parse(readFileSync(bundle, 'utf8'))
  return typeof parsed === 'object' && parsed !== null && 'envelope' in parsed && parsed.envelope !== null
}
