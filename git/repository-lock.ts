import { closeSync, openSync } from 'node:fs'
import { execa } from 'execa'
import { hostPath, inherited } from './run-git.ts'

const conflictExitCode = 75

export type RepositoryLock = {
  /** To be handed to every git process under the lock, so that an orphan of a killed host still holds it. */
  fd: number
  release(): void
}

/**
 * An exclusive lock across processes that dies with its holder: a kernel lock (flock) on an open file. A file with a pid
 * and a start time inside would lie across containers that share a folder, and git's own lock files outlive a killed git.
 * Node has no flock, so flock(1) of util-linux takes it on a descriptor it inherits: the lock belongs to the open file,
 * stays when flock ends, and is gone as soon as the last process that has it open is.
 *
 * Null: it was not free within `waitMs` (0 = do not wait).
 */
export async function lockRepository(file: string, waitMs: number, signal?: AbortSignal): Promise<RepositoryLock | null> {
  const fd = openSync(file, 'a', 0o600)
  const wait = waitMs === 0 ? ['--nonblock'] : ['--timeout', String(waitMs / 1000)]
  try {
    const result = await execa('flock', ['--exclusive', ...wait, '--conflict-exit-code', String(conflictExitCode), '3'], {
      stdio: ['ignore', 'ignore', 'pipe', inherited(fd)],
      env: { PATH: hostPath, LC_ALL: 'C' },
      extendEnv: false,
      killSignal: 'SIGKILL',
      reject: false,
      ...(signal ? { cancelSignal: signal } : {}),
    })
    if (result.exitCode === 0) return { fd, release: releaseOnce(fd) }
    closeSync(fd)
    if (result.exitCode === conflictExitCode || result.isCanceled) return null
    throw new Error(`flock (util-linux) is needed to lock ${file} and failed: ${result.code ?? String(result.stderr)}`)
  } catch (error) {
    closeQuietly(fd)
    throw error
  }
}

function releaseOnce(fd: number): () => void {
  let held = true
  return () => {
    if (held) closeSync(fd)
    held = false
  }
}

function closeQuietly(fd: number): void {
  try {
    closeSync(fd)
  } catch {
    // Closed before the error was thrown.
  }
}
