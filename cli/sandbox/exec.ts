import type { Environment } from '../../config-schema/index.ts'
import { type CommandResult, openSandbox, type Sandbox, sandboxLimitDefaults } from '../../sandbox/index.ts'
import { rootsOf } from '../../worker/index.ts'
import { escapeLines, escapeText, toSafeJson } from '../escape.ts'
import { exitCodes, UsageError } from '../exit.ts'
import { openRoom, requireProfile, type SandboxRoom } from './open-place.ts'

type Options = { profile: string; repo?: string; data?: string; json?: boolean; wall: string }

/** One command in a fresh sandbox of that profile. What it prints goes on as it comes; what it is measured to have is said first. */
export async function execInSandbox(argv: readonly string[], options: Options, environment: Environment): Promise<void> {
  requireProfile(options.profile)
  const wallMs = Number(options.wall) * 1000
  if (!(wallMs > 0)) throw new UsageError('option-value', '--wall is a number of seconds')
  const room = await openRoom(environment, options)
  const cancel = new AbortController()
  const onSignal = () => cancel.abort(new Error('interrupted'))
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal)
  const sandbox = await openFor(room, options.profile, wallMs)
  try {
    if (sandbox.unavailable) throw new UsageError('sandbox-exec-refused', `nothing was run: ${escapeText(sandbox.unavailable.reason)}`)
    if (!options.json) process.stderr.write(`${openedText(sandbox.report)}\n`)
    const onOutput = options.json ? {} : { onOutput: (chunk: Uint8Array) => void process.stdout.write(shownChunk(chunk)) }
    const result = await sandbox.run({ argv, wallMs, signal: cancel.signal, ...onOutput })
    report(result, options.json === true)
  } finally {
    await sandbox.close()
    await room.close()
  }
}

function openFor({ settings, workspace, mounts, runDir, user }: SandboxRoom, profile: string, wallMs: number): Promise<Sandbox> {
  const { sandbox } = settings.operator
  return openSandbox({
    profile,
    policy: sandbox?.policy ?? 'required',
    workspace,
    ...rootsOf(sandbox?.roots ?? [], mounts),
    runDir,
    user,
    network: { kind: 'none' },
    ...(sandbox?.readHost === undefined ? {} : { readHost: sandbox.readHost }),
    limits: { ...sandboxLimitDefaults, wallMs },
    masked: sandbox?.masked ?? [],
    poolSize: 0,
    files: false,
  })
}

/** Without a sandbox nothing keeps the command from the host's network, whatever was asked for. */
function openedText({ state, profile }: Sandbox['report']): string {
  return `sandbox ${state}, profile ${escapeText(profile)}, ${state !== 'none' ? 'no network' : "the host's network"}`
}

/** A program gets the bytes; a person's terminal only what can not order it about. */
function shownChunk(chunk: Uint8Array): string | Uint8Array {
  return process.stdout.isTTY ? escapeLines(Buffer.from(chunk).toString('utf8')) : chunk
}

function report(result: CommandResult, json: boolean): void {
  if (result.kind !== 'ended') throw new UsageError('sandbox-exec-refused', `nothing was run: ${escapeText(result.reason)}`)
  const { exitCode, killedBy, output, outputBytes, outputHash, durationMs, report: sandbox } = result
  if (json) {
    const shown = { exitCode, killedBy, output: Buffer.from(output).toString('utf8'), outputBytes, outputHash, durationMs, sandbox }
    process.stdout.write(`${toSafeJson(shown)}\n`)
  }
  if (killedBy !== null) process.stderr.write(`killed: ${killedBy}\n`)
  if (killedBy === 'cancel') process.exitCode = exitCodes.cancelled
  else process.exitCode = killedBy === null ? (exitCode ?? exitCodes.failed) : exitCodes.limit
}
