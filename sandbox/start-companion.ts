import type { Readable, Writable } from 'node:stream'
import { type Engine, namespaceOf } from './engine.ts'
import type { Holder } from './holder.ts'
import { endLaunch, killPid, launch } from './launch.ts'
import { engineLimits } from './limits.ts'
import type { SandboxLimits, SandboxUser } from './sandbox.ts'

/** A long-lived process of ours in a sandbox of its own beside the commands: the file host, or the egress relay. */
export type Companion = {
  input: Writable
  output: Readable
  /** Resolves when its sandbox is gone, whoever ended it. */
  ended: Promise<void>
  kill(): void
}

export type CompanionOptions = {
  engine: Engine
  holder: Holder
  user: SandboxUser
  limits: SandboxLimits
  /** Path of its system call filter. */
  seccomp: string
  /** Whether it lives in the session's network namespace. */
  net: boolean
  bwrapArguments: readonly string[]
}

/** Starts it and waits until it says its first word, which stays in `output`. The result is a reason when it does not. */
export async function startCompanion(options: CompanionOptions): Promise<Companion | string> {
  const { engine, holder, limits } = options
  const launched = launch({
    argv: [...holder.enter(options.net), ...options.bwrapArguments],
    user: options.user,
    limits: {
      cpuSeconds: limits.cpuSeconds + engineLimits.companionCpuSeconds,
      fileBytes: limits.fileBytesMax,
      openFiles: limits.openFilesMax,
      memoryBytes: engineLimits.companionMemoryBytes,
      // Counted together with the session's commands, which must not be able to starve it.
      processes: engineLimits.companionProcesses + limits.processesMax,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
    shell: engine.shell,
    seccomp: options.seccomp,
    control: false,
    stderrBytesMax: engineLimits.stderrBytesMax,
  })
  const { stdin, stdout } = launched.child
  if (!stdin || !stdout) return 'it could not be spawned'
  if (!(await firstWord(stdout, launched.closed))) {
    stdin.destroy()
    await endLaunch(launched)
    return launched.stderr().trim() || 'it said nothing and gave no reason'
  }
  const pid = await launched.childPid
  const pidNamespace = pid === null ? null : namespaceOf(pid, 'pid')
  const kill = () => {
    stdin.destroy()
    if (pid !== null && pidNamespace !== null && namespaceOf(pid, 'pid') === pidNamespace) killPid(pid)
  }
  return { input: stdin, output: stdout, ended: launched.closed, kill }
}

function firstWord(output: Readable, closed: Promise<void>): Promise<boolean> {
  return new Promise(resolve => {
    const timer = setTimeout(() => resolve(false), engineLimits.companionStartMs)
    const settle = (spoke: boolean) => {
      clearTimeout(timer)
      resolve(spoke)
    }
    output.once('readable', () => settle(output.readableLength > 0))
    closed.then(() => settle(false))
  })
}
