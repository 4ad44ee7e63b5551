import { closeSync, constants, mkdirSync, openSync, readdirSync, statSync, unlinkSync } from 'node:fs'
import path from 'node:path'
import { findDeadOwners } from '../ledger/index.ts'

/**
 * Where the processes of the app listen for workers of the same machine: one Unix socket each, named after its owner, in a
 * folder only this user may enter.
 */
export type MintFolder = {
  /** What to listen on; the file goes with `close`. */
  pathOf(owner: string): string
  /** Those of living owners, the newest first. What a killed process left is removed. */
  sockets(): string[]
  close(): void
}

export function openMintFolder(dataDir: string): MintFolder {
  const folder = path.join(dataDir, 'keys', 'mint')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // A socket's path has at most 107 bytes, and a data folder may be deep: by way of a descriptor every path is short.
  const descriptor = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY)
  const pathOf = (owner: string) => `/proc/self/fd/${descriptor}/${owner}`
  return {
    pathOf,
    sockets() {
      const owners = readdirSync(folder)
      const dead = new Set(findDeadOwners(dataDir, owners))
      for (const owner of dead) unlinkSync(path.join(folder, owner))
      const living = owners.filter(owner => !dead.has(owner))
      const madeAt = new Map(living.map(owner => [owner, statSync(path.join(folder, owner), { throwIfNoEntry: false })?.mtimeMs ?? 0]))
      return living.sort((one, other) => (madeAt.get(other) ?? 0) - (madeAt.get(one) ?? 0)).map(pathOf)
    },
    close: () => closeSync(descriptor),
  }
}
