import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { commandArguments } from './bwrap-arguments.ts'
import { type Engine, namespaceOf } from './engine.ts'
import { type Evidence, readEvidence } from './evidence.ts'
import type { Fifo, FifoStore } from './fifo-store.ts'
import type { Holder } from './holder.ts'
import { endLaunch, fds, killPid, type Launched, launch, leakedDescriptors, pipeAt } from './launch.ts'
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
  /** Resolves when no process of it is left; to be called after `kill`. */
  gone(): Promise<void>
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
  const pid = parked === 'R' ? await launched.childPid : null
  const evidence = pid === null ? null : await readEvidence(pid)
  if (pid === null || evidence === null) return giveUp(fifo, launched)
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
    gone: () => processesGone(pid, pidNamespace),
    async discard() {
      kill()
      control.destroy()
      fifo.reader.destroy()
      await launched.closed
      fifo.release(true)
    },
  }
}

/**
 * The kernel ends every process of a pid namespace before its first process becomes a zombie: when that one is a zombie, or
 * has been collected, nothing is left, whoever holds what open. This is mostly so at the first look.
 */
async function processesGone(pid: number, pidNamespace: string): Promise<void> {
  const giveUpAt = performance.now() + engineLimits.killGraceMs
  for (let looks = 0; isRunning(pid) && namespaceOf(pid, 'pid') === pidNamespace && performance.now() < giveUpAt; looks += 1) {
    await new Promise<void>(resolve => (looks < eagerLooks ? setImmediate(resolve) : setTimeout(resolve, 1)))
  }
}

const eagerLooks = 20

function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))
  } catch {
    return false
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

/** Ends what did not park. What bwrap said about it came by the command's output FIFO. */
async function giveUp(fifo: Fifo, launched: Launched): Promise<ParkFailure> {
  const chunks: Buffer[] = []
  fifo.reader.on('data', (chunk: Buffer) => chunks.push(chunk))
  const ended = new Promise(resolve => fifo.reader.once('end', resolve).once('close', resolve))
  const childSeen = await endLaunch(launched)
  const timer = setTimeout(() => fifo.reader.destroy(), engineLimits.drainMs)
  await ended
  clearTimeout(timer)
  fifo.reader.destroy()
  fifo.release(true)
  const stderr = Buffer.concat(chunks).toString('utf8').slice(0, engineLimits.stderrBytesMax)
  return { kind: 'failed', stderr, exit: launched.child.exitCode, childSeen }
}
