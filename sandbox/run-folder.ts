import { chmodSync, chownSync, lstatSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SandboxUser } from './sandbox.ts'

/**
 * The host folders of one sandbox under the session's `runDir`. Home is kept between sandboxes of one session; everything
 * else is new each time. Only `home`, `workspace` and `fifo` belong to the sandbox user; what the engine itself reads is
 * written by the worker, so that in `slots` mode no sandbox process could change it even outside its sandbox.
 */
export type RunFolder = {
  home: string
  /** An empty workspace, used when none was given. */
  workspace: string
  fifo: string
  /** Whole outputs of commands; seen by nobody inside. */
  output: string
  /** Bound read-only at /run/grokbot/inbox: long scripts and standard input. */
  inbox: string
  /** The egress proxy's socket: seen by the relay alone. */
  proxy: string
  /** An empty file of mode 0000, laid over every denied file. */
  denied: string
}

export function prepareRunFolder(runDir: string, user: SandboxUser): RunFolder {
  const home = join(runDir, 'home')
  makeFolder(home, 0o700, user)
  const base = mkdtempSync(join(runDir, 'sandbox-'))
  // Search only: the launcher, which is the sandbox user, must pass through to bind what lies below, and may list nothing.
  chmodSync(base, 0o711)
  const folder: RunFolder = {
    home,
    workspace: join(base, 'workspace'),
    fifo: join(base, 'fifo'),
    output: join(base, 'output'),
    inbox: join(base, 'inbox'),
    proxy: join(base, 'proxy'),
    denied: join(base, 'denied'),
  }
  makeFolder(folder.workspace, 0o700, user)
  makeFolder(folder.fifo, 0o700, user)
  makeFolder(folder.output, 0o700, null)
  makeFolder(folder.inbox, 0o755, null)
  makeFolder(folder.proxy, 0o711, null)
  writeFileSync(folder.denied, '', { flag: 'wx', mode: 0o000 })
  own(folder.denied, user)
  return folder
}

/** Makes a folder, or accepts one that is already there as a real folder of the same owner. A symlink is never followed. */
function makeFolder(path: string, mode: number, owner: SandboxUser | null): void {
  try {
    mkdirSync(path, { mode })
    chmodSync(path, mode)
    if (owner) own(path, owner)
  } catch (error) {
    const stat = lstatSync(path)
    if (!stat.isDirectory() || (owner && stat.uid !== owner.uid)) {
      throw new Error(`${path} is not a folder of the sandbox user`, { cause: error })
    }
  }
}

/** Gives a path to the sandbox user. When the worker is that user already, it is a no-op. */
export function own(path: string, user: SandboxUser): void {
  if (process.getuid?.() === 0) chownSync(path, user.uid, user.gid)
}
