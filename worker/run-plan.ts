import { chmod, mkdtemp } from 'node:fs/promises'
import path from 'node:path'
import { removeRun } from '../git/index.ts'
import type { Command, CommandResult, Mount } from '../sandbox/index.ts'
import { openTaskSandbox, type SandboxPlace } from './open-task-sandbox.ts'

/** What git wants done on a work tree the host may not touch: mounts and a command for a fresh sandbox. */
type Plan = Pick<Command, 'argv' | 'env'> & { workspace: { source: string; mode: 'ro' | 'rw' }; mounts: readonly Mount[] }
type Ended = CommandResult & { kind: 'ended' }

/** Runs a plan in a sandbox in which no process of the agent lives. `after` gets the result while the plan's files are there. */
export async function runPlan<T>(place: SandboxPlace, plan: Plan, workDir: string, after: (result: Ended) => Promise<T>): Promise<T> {
  const opened = await openPlan(place, plan, { workDir, poolSize: 0 })
  try {
    return await after(await opened.run(plan.argv))
  } finally {
    await opened.close()
  }
}

export type OpenedPlan = { run(argv: readonly string[]): Promise<Ended>; close(): Promise<void> }

/** The place of one plan and of those with the same mounts. Every run gets a fresh sandbox; `poolSize` are started ahead. */
export async function openPlan(place: SandboxPlace, plan: Plan, options: { workDir: string; poolSize: number }): Promise<OpenedPlan> {
  const runDir = await mkdtemp(path.join(options.workDir, 'plan-'))
  // Passable for the session's user, not listable.
  await chmod(runDir, 0o711)
  const { workspace, mounts, env } = plan
  const sandbox = await openTaskSandbox(place, {
    profile: 'strict',
    network: { kind: 'none' },
    runDir,
    workspace,
    mounts,
    files: false,
    poolSize: options.poolSize,
  })
  return {
    async run(argv) {
      // Not in the work tree: it may have been closed even to its own user, which the plan itself then says.
      const result = await sandbox.run({ argv, cwd: '/', ...(env ? { env } : {}) })
      if (result.kind !== 'ended') throw new Error(`no sandbox for git on the work tree: ${result.reason}`)
      return result
    },
    async close() {
      await sandbox.close()
      await removeRun(runDir)
    },
  }
}

export function tailOf({ output }: { output: Uint8Array }): string {
  return Buffer.from(output).toString('utf8').slice(-tailCharacters).trimEnd()
}

const tailCharacters = 500
