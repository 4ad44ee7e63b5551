import type { SandboxReport } from '../domain/index.ts'
import { describeProfile, type Network, type Sandbox } from '../sandbox/index.ts'
import { workerLimits } from './limits.ts'
import { openTaskSandbox, type SandboxPlace, workOptions } from './open-task-sandbox.ts'
import { goOn } from './stopped.ts'
import type { Base, Task, TaskWorkspace } from './task.ts'

export type SetupResult = {
  exitCode: number | null
  output: string
  durationMs: number
  hosts: string[]
  failed: boolean
  /** What it ran in; null when there was nothing to run. */
  sandbox: SandboxReport | null
}

/**
 * Prepares one checkout: each command in a fresh sandbox of the task's own profile, no secrets, egress only to the listed
 * hosts. Stops at the first that fails.
 */
export async function runSetup(
  task: Task,
  place: SandboxPlace,
  base: Base,
  workspace: TaskWorkspace,
  runDir: string,
): Promise<SetupResult> {
  const wallMs = base.config.limits.setupWallMs.value
  if (base.setup.commands.length === 0) return { exitCode: 0, output: '', durationMs: 0, hosts: [], failed: false, sandbox: null }
  const profile = base.config.profile.value
  const sandbox = await openTaskSandbox(
    { ...place, wallMs },
    {
      profile,
      ...workOptions(workspace, runDir),
      network: networkOf(profile, base),
      privateEgress: base.privateEgress,
    },
  )
  try {
    return await runCommands(task, sandbox, base.setup.commands, wallMs)
  } finally {
    await sandbox.close()
  }
}

/**
 * The proxy also when nothing is listed: what setup would have liked to reach is then named, instead of a name that does
 * not resolve. A profile that writes nothing has no network at all.
 */
function networkOf(profile: string, { egress }: Base): Network {
  return describeProfile(profile)?.networks.includes('proxy') ? { kind: 'proxy', allow: egress } : { kind: 'none' }
}

async function runCommands(task: Task, sandbox: Sandbox, commands: readonly string[], wallMs: number): Promise<SetupResult> {
  const parts: string[] = []
  let exitCode: number | null = 0
  let durationMs = 0
  for (const command of commands) {
    const result = await sandbox.run({ argv: ['bash', '-c', command], wallMs: Math.max(1, wallMs - durationMs), signal: task.stop })
    goOn(task)
    if (result.kind !== 'ended') {
      parts.push(`$ ${command}\nnot run: ${result.reason}`)
      exitCode = null
      break
    }
    durationMs += Math.round(result.durationMs)
    exitCode = result.exitCode
    parts.push(`$ ${command}\n${Buffer.from(result.output).toString('utf8')}`)
    if (result.exitCode !== 0) break
  }
  return {
    exitCode,
    output: parts.join('\n').slice(-workerLimits.outputCharactersMax),
    durationMs,
    hosts: hostsOf(sandbox),
    failed: exitCode !== 0,
    sandbox: sandbox.report,
  }
}

/** Each place once; a refusal with its reason, since that is what a maintainer has to act on. */
function hostsOf(sandbox: Sandbox): string[] {
  const lines = sandbox
    .egress()
    .map(({ host, port, verdict, reason }) => `${verdict} ${host}:${port}${verdict === 'refused' ? ` (${reason})` : ''}`)
  return [...new Set(lines)].slice(0, workerLimits.setupHostsMax)
}
