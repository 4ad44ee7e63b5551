import { fileHostArguments } from './bwrap-arguments.ts'
import { type Engine, namespaceOf } from './engine.ts'
import type { FileHostProcess } from './file-host.ts'
import { type Holder, killPid } from './holder.ts'
import { launch } from './launch.ts'
import { engineLimits } from './limits.ts'
import type { SandboxLimits, SandboxUser } from './sandbox.ts'

export type FileHostContext = { engine: Engine; holder: Holder; user: SandboxUser; limits: SandboxLimits; seccomp: string; entry: string }

/** Starts the file host in its sandbox and waits until it speaks. The result is a reason when it does not. */
export async function startFileHost(context: FileHostContext): Promise<FileHostProcess | string> {
  const { engine, holder, limits } = context
  const launched = launch({
    argv: [...holder.enter(false), ...fileHostArguments(context.entry, engine.ripgrep)],
    user: context.user,
    limits: {
      cpuSeconds: limits.cpuSeconds,
      fileBytes: limits.fileBytesMax,
      openFiles: limits.openFilesMax,
      memoryBytes: engineLimits.fileHostMemoryBytes,
      processes: engineLimits.fileHostProcesses + limits.processesMax,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
    shell: engine.shell,
    seccomp: context.seccomp,
    control: false,
    stderrBytesMax: engineLimits.stderrBytesMax,
  })
  const { stdin, stdout } = launched.child
  if (!stdin || !stdout) return 'the file host could not be started'
  const spoke = await firstWord(stdout, launched.closed)
  const pid = await launched.childPid
  const pidNamespace = pid === null ? null : namespaceOf(pid, 'pid')
  const kill = () => {
    stdin.destroy()
    if (pid !== null && pidNamespace !== null && namespaceOf(pid, 'pid') === pidNamespace) killPid(pid)
  }
  if (!spoke) {
    kill()
    if (pid !== null) await launched.closed
    return `the file host did not start: ${launched.stderr().trim() || 'no reason given'}`
  }
  return { input: stdin, output: stdout, ended: launched.closed, kill }
}

/** Waits for the `ready` frame without taking it off the stream. */
function firstWord(output: NodeJS.ReadableStream, closed: Promise<void>): Promise<boolean> {
  return new Promise(resolve => {
    const timer = setTimeout(() => resolve(false), engineLimits.fileHostStartMs)
    const settle = (spoke: boolean) => {
      clearTimeout(timer)
      resolve(spoke)
    }
    output.once('readable', () => settle(true))
    closed.then(() => settle(false))
  })
}
