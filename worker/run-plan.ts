import { chmod, mkdtemp } from 'node:fs/promises'
import path from 'node:path'
import { removeRun } from '../git/index.ts'
import type { Command, CommandResult, Mount } from '../sandbox/index.ts'
import { openTaskSandbox, type SandboxPlace } from './open-task-sandbox.ts'

/** What git wants done on a work tree the host may not touch: mounts and a command for a fresh sandbox. */
type Plan = Pick<Command, 'argv' | 'env'> & { workspace: { source: string; mode: 'ro' | 'rw' }; mounts: readonly Mount[] }

/** Runs a plan in a sandbox in which no process of the agent lives. `after` gets the result while the plan's files are there. */
export async function runPlan<T>(
  place: SandboxPlace,
  plan: Plan,
  workDir: string,
  after: (result: CommandResult & { kind: 'ended' }) => Promise<T>,
): Promise<T> {
  const runDir = await mkdtemp(path.join(workDir, 'plan-'))
  // Passable for the session's user, not listable.
  await chmod(runDir, 0o711)
  const { workspace, mounts, argv, env } = plan
  const sandbox = await openTaskSandbox(place, {
    profile: 'strict',
    network: { kind: 'none' },
    runDir,
    workspace,
    mounts,
    files: false,
    poolSize: 0,
  })
  try {
    const result = await sandbox.run({ argv, ...(env ? { env } : {}) })
    if (result.kind !== 'ended') throw new Error(`no sandbox for git on the work tree: ${result.reason}`)
    return await after(result)
  } finally {
    await sandbox.close()
    await removeRun(runDir)
  }
}

export function tailOf({ output }: { output: Uint8Array }): string {
  return Buffer.from(output).toString('utf8').slice(-tailCharacters)
}

const tailCharacters = 500
