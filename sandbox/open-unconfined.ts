import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { SandboxReport } from '../domain/index.ts'
import { entryPath } from '../entries.ts'
import type { Engine } from './engine.ts'
import { commandEnvironment } from './environment.ts'
import { createFifoStore, type Fifo, type FifoStore } from './fifo-store.ts'
import { createFileHost } from './file-host.ts'
import { limitedArgv } from './launch.ts'
import { engineLimits } from './limits.ts'
import { captureOutput } from './output-capture.ts'
import { own, type RunFolder } from './run-folder.ts'
import { type Command, type CommandResult, insidePaths, type KilledBy, type Sandbox, type SandboxOptions } from './sandbox.ts'
import type { Companion } from './start-companion.ts'

/**
 * The profile `off`: no sandbox at all, for an operator who has another one around the worker. Commands run as the session's
 * user with resource limits and a cleared environment; the report says `none`. What a command left behind in a session of
 * its own survives it. Inside paths do not exist: they stand for the host folders they would have been bound from.
 */
export async function openUnconfined(options: SandboxOptions, engine: Engine, folder: RunFolder): Promise<Sandbox> {
  const report: SandboxReport = { engine: 'none', state: 'none', profile: 'off', missing: ['everything'] }
  const tmp = join(dirname(folder.output), 'tmp')
  mkdirSync(tmp, { mode: 0o700 })
  own(tmp, options.user)
  const workspace = options.workspace?.source ?? folder.workspace
  const map = [
    [insidePaths.workspace, workspace],
    [insidePaths.home, folder.home],
    [insidePaths.tmp, tmp],
  ] as const
  const toHost = (path: string) => mapPath(path, map)
  const fifos = createFifoStore(engine, folder.fifo, options.user)
  const files = options.files ? createFileHost(async () => spawnFileHost(options, engine, map)) : null
  const environment = { ...commandEnvironment(options.path), HOME: folder.home, TMPDIR: tmp }
  let number = 0
  return {
    report,
    unavailable: null,
    files,
    egress: () => [],
    async run(command) {
      const outputFile = join(folder.output, `${++number}.out`)
      return runBare(
        { options, engine, fifos, outputFile, report, cwd: toHost(command.cwd ?? insidePaths.workspace), environment },
        command,
      )
    },
    close: async () => files?.close(),
  }
}

function mapPath(path: string, map: readonly (readonly [string, string])[]): string {
  const found = map.find(([inside]) => path === inside || path.startsWith(`${inside}/`))
  return found ? found[1] + path.slice(found[0].length) : path
}

type Bare = {
  options: SandboxOptions
  engine: Engine
  fifos: FifoStore
  outputFile: string
  report: SandboxReport
  cwd: string
  environment: Readonly<Record<string, string>>
}

async function runBare(bare: Bare, command: Command): Promise<CommandResult> {
  const { limits } = bare.options
  if ([...command.argv, ...Object.values(command.env ?? {})].some(text => text.includes('\0'))) {
    return { kind: 'refused', reason: 'the command contains a NUL byte' }
  }
  const fifo = await bare.fifos.take()
  const capture = captureOutput(bare.outputFile, limits.outputBytesMax, limits.outputFileBytesMax)
  const child = spawnBare(bare, command, fifo)
  fifo.started()
  let killedBy: KilledBy | null = null
  const killFor = (reason: KilledBy) => {
    killedBy ??= reason
    killGroup(child)
  }
  const startedAt = performance.now()
  fifo.reader.on('data', (chunk: Buffer) => {
    if (!capture.add(chunk)) killFor('output')
    command.onOutput?.(chunk)
  })
  const wall = setTimeout(() => killFor('wall'), Math.min(command.wallMs ?? limits.wallMs, limits.wallMs))
  const cancel = () => killFor('cancel')
  command.signal?.addEventListener('abort', cancel, { once: true })
  const exit = await exitOf(child)
  clearTimeout(wall)
  command.signal?.removeEventListener('abort', cancel)
  killGroup(child)
  await outputEnd(fifo)
  const ended = capture.end()
  const exitCode = killedBy === null ? exit : null
  return { kind: 'ended', exitCode, killedBy, ...ended, durationMs: performance.now() - startedAt, report: bare.report }
}

function spawnBare(bare: Bare, command: Command, fifo: Fifo): ChildProcess {
  const { options, engine } = bare
  const { limits } = options
  const [shell, args] = limitedArgv(engine.shell, command.argv, {
    cpuSeconds: limits.cpuSeconds,
    fileBytes: limits.fileBytesMax,
    openFiles: limits.openFilesMax,
    memoryBytes: limits.memoryBytes,
    processes: limits.processesMax,
  })
  const child = spawn(shell, args, {
    stdio: [command.stdin ? 'pipe' : 'ignore', fifo.writeFd, fifo.writeFd],
    cwd: bare.cwd,
    env: { ...bare.environment, ...command.env },
    // A process group of its own, which is all there is to kill by.
    detached: true,
    ...(process.getuid?.() === 0 ? { uid: options.user.uid, gid: options.user.gid } : {}),
  })
  child.stdin?.on('error', () => {})
  child.stdin?.end(command.stdin)
  return child
}

/** The exit code as a shell would have it: 128 + n for a signal, 127 when it could not be started. */
function exitOf(child: ChildProcess): Promise<number> {
  return new Promise(resolve => {
    child.once('error', () => resolve(127))
    child.once('exit', (code, signal) => resolve(code ?? (signal === 'SIGKILL' ? 137 : 128)))
  })
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // The group is empty.
  }
}

function outputEnd(fifo: Fifo): Promise<void> {
  return new Promise(resolve => {
    const settle = (reusable: boolean) => {
      clearTimeout(timer)
      fifo.reader.destroy()
      fifo.release(reusable)
      resolve()
    }
    const timer = setTimeout(() => settle(false), engineLimits.drainMs)
    if (fifo.reader.readableEnded) settle(true)
    else fifo.reader.once('end', () => settle(true))
  })
}

function spawnFileHost(options: SandboxOptions, engine: Engine, map: readonly (readonly [string, string])[]): Companion {
  const entry = entryPath('fileHost')
  const child = spawn(engine.node, [entry, engine.ripgrep ?? '', JSON.stringify(map)], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {},
    cwd: '/',
    ...(process.getuid?.() === 0 ? { uid: options.user.uid, gid: options.user.gid } : {}),
  })
  child.stdin.on('error', () => {})
  return {
    input: child.stdin,
    output: child.stdout,
    ended: new Promise(resolve => {
      child.once('close', () => resolve())
      child.once('error', () => resolve())
    }),
    kill: () => child.kill('SIGKILL'),
  }
}
