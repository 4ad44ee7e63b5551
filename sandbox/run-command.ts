import { join } from 'node:path'
import { writeCommandScript } from './command-script.ts'
import { engineLimits } from './limits.ts'
import { captureOutput } from './output-capture.ts'
import type { ParkedSandbox } from './parked-sandbox.ts'
import type { NotParked, Parked } from './pool.ts'
import { type Command, type CommandResult, insidePaths, type KilledBy, type SandboxLimits } from './sandbox.ts'
import { watchUsage } from './watch-usage.ts'

export type RunContext = {
  limits: SandboxLimits
  inbox: string
  outputFolder: string
  /** Host folder whose file system is watched for space and inodes; null when the command can write to none. */
  disk: string | null
  tmp: string | null
}

let outputNumber = 0

/**
 * Runs one command in one parked sandbox and ends that sandbox, whatever happens: the exit code comes from bwrap's status
 * stream alone, and by the time this resolves no process of the command is left.
 */
export async function runCommand(take: () => Promise<Parked | NotParked>, command: Command, context: RunContext): Promise<CommandResult> {
  const script = writeCommandScript(command, context.inbox)
  if (script.kind === 'refused') return script
  try {
    const taken = await take()
    if (taken.kind === 'unavailable') return taken
    const result = await execute(taken.sandbox, script.script, command, context)
    return result.kind === 'ended' ? { ...result, report: taken.report } : result
  } finally {
    script.removeFiles()
  }
}

type Executed = Omit<Extract<CommandResult, { kind: 'ended' }>, 'report'> | Extract<CommandResult, { kind: 'refused' }>

async function execute(sandbox: ParkedSandbox, script: Buffer, command: Command, context: RunContext): Promise<Executed> {
  const { limits } = context
  const capture = captureOutput(join(context.outputFolder, `${++outputNumber}.out`), limits.outputBytesMax, limits.outputFileBytesMax)
  let killedBy: KilledBy | null = null
  const killFor = (reason: KilledBy) => {
    killedBy ??= reason
    sandbox.kill()
  }
  const startedAt = performance.now()
  const drained = readOutput(sandbox, chunk => {
    if (!capture.add(chunk)) killFor('output')
    command.onOutput?.(chunk)
  })
  const stopGuards = guard(sandbox, command, context, killFor)
  try {
    const start = await sandbox.start(script)
    if (start === 'no-folder') {
      await sandbox.discard()
      capture.end()
      return {
        kind: 'refused',
        reason: `the working directory ${command.cwd ?? insidePaths.workspace} does not exist or cannot be entered`,
      }
    }
    const exitCode = await sandbox.launched.exitCode
    // The command's main process has ended or was killed; what it left behind ends now.
    sandbox.kill()
    await settleWithin(drained, engineLimits.drainMs)
    await sandbox.gone()
    const ended = capture.end()
    const reason = killedBy ?? (exitCode === null ? 'sandbox' : null)
    return {
      kind: 'ended',
      exitCode: reason === null ? exitCode : null,
      killedBy: reason,
      ...ended,
      durationMs: performance.now() - startedAt,
    }
  } finally {
    stopGuards()
    sandbox.fifo.reader.destroy()
  }
}

function readOutput(sandbox: ParkedSandbox, onChunk: (chunk: Buffer) => void): Promise<void> {
  const { reader } = sandbox.fifo
  return new Promise(resolve => {
    reader.on('data', onChunk)
    reader.once('end', () => {
      sandbox.fifo.release(true)
      resolve()
    })
    reader.once('error', () => resolve())
  })
}

/** Everything that may end a command from outside. Returns the function that takes all of it back. */
function guard(sandbox: ParkedSandbox, command: Command, context: RunContext, killFor: (reason: KilledBy) => void): () => void {
  const wall = setTimeout(() => killFor('wall'), Math.min(command.wallMs ?? context.limits.wallMs, context.limits.wallMs))
  const cancel = () => killFor('cancel')
  if (command.signal?.aborted) cancel()
  command.signal?.addEventListener('abort', cancel, { once: true })
  const stopWatch = watchUsage(sandbox.pid, context, killFor)
  return () => {
    clearTimeout(wall)
    command.signal?.removeEventListener('abort', cancel)
    stopWatch()
  }
}

function settleWithin(work: Promise<unknown>, ms: number): Promise<void> {
  return new Promise(resolve => {
    const timer = setTimeout(resolve, ms)
    work.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
