import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { bundlePath, patchPath } from '../../worker/index.ts'
import type { OutFiles } from '../run/out-folder.ts'

export function taskFolderOf(dataDir: string, taskId: string): string {
  return path.join(dataDir, 'tasks', taskId)
}

/** The files of a task as they lie in the data folder. */
export function outFilesOf(dataDir: string, taskId: string): OutFiles {
  const folder = taskFolderOf(dataDir, taskId)
  const there = (file: string) => (existsSync(file) ? file : null)
  return { patch: there(patchPath(folder)), bundle: there(bundlePath(folder)), problem: null }
}

/** Whether a bundle of ours carries a signature; a file that is no bundle carries none. */
export function isSigned(bundle: string | null): boolean {
  if (bundle === null) return false
  const parsed: unknown = JSON.parse(readFileSync(bundle, 'utf8'))
  return typeof parsed === 'object' && parsed !== null && 'envelope' in parsed && parsed.envelope !== null
}
