import { spawn } from 'node:child_process'
import { closeSync, constants, openSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import type { Engine } from './engine.ts'
import { engineLimits } from './limits.ts'
import type { SandboxUser } from './sandbox.ts'

/**
 * The pipes that commands write their output to. A Node pipe is a socket, and `echo x > /dev/stdout` fails on a socket; a
 * FIFO can be opened again, if it belongs to the sandbox user. Each is used by one sandbox at a time: when its last writer
 * is gone the same file serves the next one.
 */
export type FifoStore = { take(): Promise<Fifo> }

export type Fifo = {
  /** Descriptor for the child's fds 1 and 2; closed by `started`. */
  writeFd: number
  reader: Socket
  /** Closes our copy of the write end, so that the reader sees the end when the sandbox's last process is gone. */
  started(): void
  /** Gives the file back. `reusable`: every process that could have had it open is gone; else it is thrown away. */
  release(reusable: boolean): void
}

/** The first FIFOs are made at once, as many as `ahead`, beside whatever the caller does next. */
export function createFifoStore(engine: Engine, folder: string, user: SandboxUser, ahead = 1): FifoStore {
  const free: string[] = []
  let names = 0
  let inUse = 0
  let making: Promise<void> | null = makeMore(ahead)
  // Its failure is told to who takes the first one.
  making.catch(() => {})

  async function makeMore(count: number): Promise<void> {
    const paths = Array.from({ length: count }, () => join(folder, String(names++)))
    await mkfifo(engine, paths, user)
    free.push(...paths)
  }

  function giveBack(path: string, reusable: boolean): void {
    inUse -= 1
    if (reusable) free.push(path)
    else rmSync(path, { force: true })
  }

  return {
    async take() {
      if (inUse >= engineLimits.fifosMax) throw new Error(`more than ${engineLimits.fifosMax} sandboxes of one session at once`)
      inUse += 1
      while (free.length === 0) {
        making ??= makeMore(batch)
        await making.finally(() => {
          making = null
        })
      }
      const path = free.pop() as string
      return openFifo(path, reusable => giveBack(path, reusable))
    },
  }
}

const batch = 8

/** mkfifo(1) runs as the sandbox user so that the FIFOs are its own. */
function mkfifo(engine: Engine, paths: readonly string[], user: SandboxUser): Promise<void> {
  return new Promise((resolve, reject) => {
    const identity = process.getuid?.() === 0 ? { uid: user.uid, gid: user.gid } : {}
    const child = spawn(engine.mkfifo, ['-m', '600', '--', ...paths], { stdio: 'ignore', env: {}, cwd: '/', ...identity })
    child.on('error', reject)
    child.on('close', code => (code === 0 ? resolve() : reject(new Error(`mkfifo ended with ${code}`))))
  })
}

function openFifo(path: string, giveBack: (reusable: boolean) => void): Fifo {
  // Reading first and without blocking; then a writer may open it at once.
  const readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  const writeFd = openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW)
  let open = true
  let released = false
  return {
    writeFd,
    reader: new Socket({ fd: readFd, readable: true, writable: false }),
    started() {
      if (open) closeSync(writeFd)
      open = false
    },
    release(reusable) {
      if (!released) giveBack(reusable)
      released = true
    },
  }
}
