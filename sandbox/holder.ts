import { type Engine, namespaceOf } from './engine.ts'
import { endLaunch, killPid, type Launched, launch } from './launch.ts'
import { engineLimits } from './limits.ts'
import type { SandboxUser } from './sandbox.ts'

/**
 * One process per session that keeps the session's user, mount and network namespace alive: /tmp, /run and the loopback
 * interface live as long as it does, and every command, the relay and the file host join them. It runs nothing of anybody.
 */
export type Holder = {
  pid: number
  /** The namespaces as the kernel names them; a command's evidence is compared with them. */
  namespaces: { user: string; mnt: string; net: string }
  /** `nsenter` and its options, before the inner bwrap. */
  enter(net: boolean): string[]
  /** Resolves when it died, whoever ended it. */
  ended: Promise<void>
  alive(): boolean
  close(): Promise<void>
}

export type HolderStart = { kind: 'started'; holder: Holder } | { kind: 'failed'; stderr: string; childSeen: boolean; exit: number | null }

export async function startHolder(engine: Engine, user: SandboxUser, args: readonly string[]): Promise<HolderStart> {
  const launched = launch({
    argv: [engine.bwrap, ...args],
    user,
    limits: holderLimits,
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: engine.shell,
    seccomp: null,
    control: false,
    stderrBytesMax: engineLimits.stderrBytesMax,
  })
  const pid = (await isReady(launched)) ? await launched.childPid : null
  const namespaces = pid === null ? null : readNamespaces(pid)
  if (pid === null || namespaces === null) {
    const childSeen = await endLaunch(launched)
    return { kind: 'failed', stderr: launched.stderr(), childSeen, exit: launched.child.exitCode }
  }
  const alive = () => namespaceOf(pid, 'mnt') === namespaces.mnt
  return {
    kind: 'started',
    holder: {
      pid,
      namespaces,
      // The user's own id is kept (`--preserve-credentials`): it is uid 0 of the holder's user namespace already.
      enter: net => [engine.nsenter, '-t', String(pid), '--preserve-credentials', '-U', '-m', ...(net ? ['-n'] : []), engine.bwrap],
      ended: launched.closed,
      alive,
      close: async () => {
        if (alive()) killPid(pid)
        await launched.closed
      },
    },
  }
}

/** The holder only sleeps. No process limit: the limit at its birth bounds the whole session's namespace, see `launch.ts`. */
const holderLimits = { cpuSeconds: 60, fileBytes: 0, openFiles: 256, memoryBytes: 256 * 1024 * 1024, processes: 4096 }

function isReady(launched: Launched): Promise<boolean> {
  return new Promise(resolve => {
    const timer = setTimeout(() => resolve(false), engineLimits.holderStartMs)
    const settle = (ready: boolean) => {
      clearTimeout(timer)
      resolve(ready)
    }
    launched.child.stdout?.once('data', () => settle(true))
    launched.closed.then(() => settle(false))
  })
}

function readNamespaces(pid: number): Holder['namespaces'] | null {
  const [user, mnt, net] = [namespaceOf(pid, 'user'), namespaceOf(pid, 'mnt'), namespaceOf(pid, 'net')]
  return user && mnt && net ? { user, mnt, net } : null
}
