import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { assertLedger } from './ledger-assertion.ts'

/**
 * Large payloads: `<dataDir>/blobs/<task id>/<payload hash>`. The name holds a salted hash, so it is never written twice
 * with other bytes and never shared between tasks. A file is on the disk before the row that names it is committed, in
 * both modes: a later durable commit would sync the row but not the file.
 */
export type PayloadFiles = {
  write(taskId: string, hash: string, bytes: Uint8Array): void
  /** Null: there is no such file. */
  read(taskId: string, hash: string): Uint8Array | null
  /** Removes all files of a task. Safe to repeat. */
  erase(taskId: string): void
}

export function createPayloadFiles(dataDir: string): PayloadFiles {
  const root = join(dataDir, 'blobs')
  const folderOf = (taskId: string) => join(root, assertFolderName(taskId))
  return {
    write(taskId, hash, bytes) {
      const folder = folderOf(taskId)
      if (mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined) for (const parent of [root, dataDir]) syncFolder(parent)
      writeSynced(join(folder, hash), bytes)
      syncFolder(folder)
    },
    read(taskId, hash) {
      try {
        return readFileSync(join(folderOf(taskId), hash))
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
        throw cause
      }
    },
    erase: taskId => rmSync(folderOf(taskId), { recursive: true, force: true }),
  }
}

/** A task's id is a folder's name: no separator, no dot in front. */
export function assertFolderName(taskId: string): string {
  assertLedger(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/.test(taskId), 'a task id can not be a folder name', { taskId })
  return taskId
}

function writeSynced(path: string, bytes: Uint8Array): void {
  const file = openSync(path, 'w', 0o600)
  try {
    for (let at = 0; at < bytes.byteLength; ) at += writeSync(file, bytes, at)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** The name of a new file is durable only when its folder is synced too. */
function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
