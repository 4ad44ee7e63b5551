import { mkdirSync, statSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import type Database from 'better-sqlite3'
import { assertLedger } from './ledger-assertion.ts'
import { ledgerLimits } from './limits.ts'
import { openDatabase } from './open-database.ts'

/**
 * Who is alive, told by the kernel and not by a clock. An owner holds an exclusive transaction on a small database of its
 * own for as long as it lives; the kernel drops that lock the moment the process is gone, however it went. A stopped
 * process (SIGSTOP) keeps its lock: only its lease tells.
 *
 * Danger: these are POSIX record locks. They belong to the process, and closing any descriptor of the file drops them.
 * SQLite knows that and keeps account inside one process. So nothing may ever open these files but this SQLite library.
 */
export type OwnerLock = {
  readonly owner: string
  /** Gives the lock up and removes its file: from now on the owner counts as dead. */
  release(): void
}

/**
 * Taken before the first claim under that name. A name belongs to one process start; make it unique (`worker-<ulid>`).
 * Throws when a living process holds it.
 */
export function holdOwnerLock(dataDir: string, owner: string): OwnerLock {
  mkdirSync(locksFolder(dataDir), { recursive: true, mode: 0o700 })
  const path = lockPath(dataDir, owner)
  for (let tries = 1; tries <= ledgerLimits.lockTriesMax; tries += 1) {
    // Makes the file; a connection of SQLite's own, because of the danger above.
    openDatabase(path).close()
    const lock = tryLock(path, ledgerLimits.lockWaitMs)
    if (lock !== null) return { owner, release: () => removeLock(path, lock) }
  }
  throw new Error(`another process holds the owner lock of ${owner}`)
}

/**
 * Those of `owners` whose process is gone, without waiting. An owner of this process is alive like any other. The lock
 * files of the dead are removed.
 */
export function findDeadOwners(dataDir: string, owners: readonly string[]): string[] {
  return owners.filter(owner => isDead(lockPath(dataDir, owner)))
}

function locksFolder(dataDir: string): string {
  return join(dataDir, 'locks')
}

function lockPath(dataDir: string, owner: string): string {
  assertLedger(/^[A-Za-z0-9_][A-Za-z0-9_.:@-]{0,127}$/.test(owner), 'an owner can not be a file name', { owner })
  return join(locksFolder(dataDir), `${owner}.db`)
}

type Lock = { close(): void }

/**
 * Null: somebody holds it, or there is no such file. What we get is the lock on the file of that name and not on one that
 * was removed between our opening and our locking: a file we have open keeps its inode number to itself.
 */
function tryLock(path: string, waitMs: number): Lock | null {
  const before = inodeOf(path)
  if (before === null) return null
  const database = openLockFile(path, waitMs)
  if (database === null) return null
  try {
    // No journal: nothing is ever written, and a killed owner would leave one.
    database.pragma('journal_mode = MEMORY')
    database.prepare('begin exclusive').run()
  } catch (cause) {
    database.close()
    if (isCode(cause, 'SQLITE_BUSY')) return null
    throw new Error(`the owner lock ${path} can not be tried`, { cause })
  }
  if (inodeOf(path) === before) return { close: () => void database.close() }
  database.close()
  return null
}

function openLockFile(path: string, timeout: number): Database.Database | null {
  try {
    return openDatabase(path, { fileMustExist: true, timeout })
  } catch (cause) {
    if (isCode(cause, 'SQLITE_CANTOPEN') && inodeOf(path) === null) return null
    throw new Error(`the owner lock ${path} can not be opened`, { cause })
  }
}

function isCode(cause: unknown, code: string): boolean {
  return String((cause as { code?: unknown }).code).startsWith(code)
}

function inodeOf(path: string): string | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stat === undefined ? null : `${stat.dev}:${stat.ino}`
}

/** No file: the lock was given up, or somebody else found its owner dead before. */
function isDead(path: string): boolean {
  const lock = tryLock(path, 0)
  if (lock === null) return inodeOf(path) === null
  removeLock(path, lock)
  return true
}

/** The name goes while the lock is held, so that nobody can take it in between. */
function removeLock(path: string, lock: Lock): void {
  unlinkSync(path)
  lock.close()
}
