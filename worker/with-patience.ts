import { GitHubAway } from '../effects/index.ts'
import { classifyError } from '../github/index.ts'
import { goOn, Stopped } from './stopped.ts'
import type { Task } from './task.ts'
import { OwnershipLost } from './task-log.ts'

/** GitHub, or the way to it, is away for now: worth waiting for, and no fault of the task. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
}

const waitMsMax = 60_000

/**
 * Does something that needs GitHub, and does it again while GitHub is away, with growing waits, as often as
 * `outageTriesMax` says and never past the task's own stop. `work` must be safe to repeat. Other errors pass at once.
 */
export async function withPatience<T>(task: Omit<Task, 'comment' | 'probe'>, what: string, work: () => Promise<T>): Promise<T> {
  const { outageTriesMax, outageWaitMs } = task.settings.limits
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (error instanceof OwnershipLost || error instanceof Stopped) throw error
      const wait = waitOf(error, outageWaitMs * 2 ** (tries - 1))
      if (wait === null) throw error
      if (tries >= outageTriesMax) throw new Error(`${what}: GitHub did not answer in ${tries} tries`, { cause: error })
      task.ports.logger.warn({ error, task: task.id, what, tries, waitMs: wait }, 'GitHub is away; waiting')
      await interruptibleSleep(task, wait)
      goOn(task)
    }
  }
}

/** How long to wait; null = waiting does not help. */
function waitOf(error: unknown, growing: number): number | null {
  if (error instanceof Unreachable || error instanceof GitHubAway) return Math.min(growing, waitMsMax)
  if (!isRequestFailure(error)) return null
  const fault = classifyError(error)
  if (fault.kind === 'rejected') return null
  return Math.min(fault.kind === 'later' ? Math.max(fault.waitMs, growing) : growing, waitMsMax)
}

function isRequestFailure(error: unknown): boolean {
  return error instanceof Error && 'status' in error && 'request' in error
}

async function interruptibleSleep({ stop, ports }: Pick<Task, 'stop' | 'ports'>, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  stop.addEventListener('abort', () => resolve(), { once: true })
  await Promise.race([ports.sleep(ms), promise])
}
