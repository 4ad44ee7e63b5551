import type { Socket } from 'node:net'
import { commandArguments } from './bwrap-arguments.ts'
import { type Engine, namespaceOf } from './engine.ts'
import { type Evidence, readEvidence } from './evidence.ts'
import type { Fifo, FifoStore } from './fifo-store.ts'
import { type Holder, killPid } from './holder.ts'
import { fds, type Launched, launch, leakedDescriptors, pipeAt } from './launch.ts'
import { engineLimits } from './limits.ts'
import type { SandboxLimits, SandboxUser } from './sandbox.ts'

/** A started sandbox whose shell waits for its command: everything is confined already, nothing of anybody has run. */
export type ParkedSandbox = {
  /** Host pid of the sandbox's pid 1. */
  pid: number
  launched: Launched
  fifo: Fifo
  evidence: Evidence
  /** Hands the command over. Resolves when the shell has become it, or names why it could not. */
  start(script: Buffer): Promise<'started' | 'no-folder' | 'lost'>
  /** False once its launcher has ended, whoever ended it. */
  alive(): boolean
  /** Ends every process in it; safe to repeat and at any time. */
  kill(): void
  /** Kills it and waits until nothing of it is left. */
  discard(): Promise<void>
}

export type ParkFailure = { kind: 'failed'; stderr: string; exit: number | null; childSeen: boolean }

export type ParkContext = {
  engine: Engine
  holder: Holder
  fifos: FifoStore
  user: SandboxUser
  limits: SandboxLimits
  seccomp: string
  environment: Readonly<Record<string, string>>
  net: boolean
}

/**
 * The waiting shell. It reads a length and that many bytes, which are quoted by us, and evaluates them: they change to the
 * folder ("C" on fd 9 when that fails), close fd 9 and become the command.
 */
const waitScript = 'LC_ALL=C; printf R >&9; IFS= read -r -u 9 n && IFS= read -r -N "$n" -u 9 s && unset LC_ALL n && eval "$s"'

/** Descriptors the worker itself was started with are /dev/null here already; the command does not see even that. */
function closeLeaked(): string {
  const leaked = leakedDescriptors()
  return leaked.length === 0 ? '' : `exec ${leaked.map(fd => `${fd}>&-`).join(' ')}; `
}

export async function parkSandbox(context: ParkContext): Promise<{ kind: 'parked'; sandbox: ParkedSandbox } | ParkFailure> {
  const { engine, limits, holder } = context
  const fifo = await context.fifos.take()
  const launched = launch({
    argv: [...holder.enter(context.net), ...commandArguments(context.environment, `${closeLeaked()}${waitScript}`)],
    user: context.user,
    limits: {
      cpuSeconds: limits.cpuSeconds + engineLimits.cpuGraceSeconds,
      fileBytes: limits.fileBytesMax,
      openFiles: limits.openFilesMax,
      memoryBytes: limits.memoryBytes,
      processes: limits.processesMax,
    },
    stdio: ['ignore', fifo.writeFd, fifo.writeFd],
    shell: engine.shell,
    seccomp: context.seccomp,
    control: true,
    stderrBytesMax: 0,
  })
  fifo.started()
  const control = pipeAt(launched.child, fds.control) as Socket
  const parked = await signalFrom(control, launched)
  const pid = await launched.childPid
  const evidence = pid === null || parked !== 'R' ? null : await readEvidence(pid)
  if (pid === null || evidence === null) {
    const said = await drain(fifo, launched, pid)
    return { kind: 'failed', stderr: said, exit: launched.child.exitCode, childSeen: pid !== null }
  }
  return { kind: 'parked', sandbox: controls(pid, evidence, launched, fifo, control) }
}

function controls(pid: number, evidence: Evidence, launched: Launched, fifo: Fifo, control: Socket): ParkedSandbox {
  const pidNamespace = evidence.namespaces.pid
  let gone = false
  launched.closed.then(() => {
    gone = true
  })
  const kill = () => {
    // The pid may have been given to another process since; the namespace tells them apart.
    if (!gone && namespaceOf(pid, 'pid') === pidNamespace) killPid(pid)
  }
  return {
    pid,
    launched,
    fifo,
    evidence,
    async start(script) {
      const answer = signalFrom(control, launched)
      control.write(Buffer.concat([Buffer.from(`${script.byteLength}\n`), script]))
      const signal = await answer
      return signal === null ? 'started' : signal === 'C' ? 'no-folder' : 'lost'
    },
    alive: () => !gone,
    kill,
    async discard() {
      kill()
      control.destroy()
      fifo.reader.destroy()
      await launched.closed
    },
  }
}

/** The next byte on fd 9; null when the other side closed it, which is what becoming the command does. */
function signalFrom(control: Socket, launched: Launched): Promise<string | null> {
  return new Promise(resolve => {
    const timer = setTimeout(() => settle('timeout'), engineLimits.parkMs)
    const onData = (chunk: Buffer) => settle(chunk.toString('latin1'))
    const onEnd = () => settle(null)
    const settle = (signal: string | null) => {
      clearTimeout(timer)
      control.off('data', onData).off('end', onEnd)
      resolve(signal)
    }
    control.on('data', onData).on('end', onEnd)
    launched.closed.then(() => settle('closed'))
  })
}

/** What bwrap said before it gave up; its standard error is the command's output FIFO. */
async function drain(fifo: Fifo, launched: Launched, pid: number | null): Promise<string> {
  if (pid !== null) killPid(pid)
  const chunks: Buffer[] = []
  fifo.reader.on('data', (chunk: Buffer) => chunks.push(chunk))
  await launched.closed
  await new Promise(resolve => {
    fifo.reader.once('end', resolve)
    setTimeout(resolve, engineLimits.drainMs).unref()
    if (fifo.reader.readableEnded) resolve(undefined)
  })
  fifo.reader.destroy()
  return Buffer.concat(chunks).toString('utf8').slice(0, engineLimits.stderrBytesMax)
}
