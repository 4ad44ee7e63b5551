import { GitHubAway, sleepUnlessStopped } from '../effects/index.ts'
import { classifyError } from '../github/index.ts'
import { workerLimits } from './limits.ts'
import { Stopped, stopOf } from './stopped.ts'
import type { Task } from './task.ts'
import { TaskFault } from './task-fault.ts'
import { OwnershipLost } from './task-log.ts'

/** GitHub, or the way to it, is away for now: worth waiting for, and no fault of the task. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
}

/**
 * Does something that needs GitHub, and does it again while GitHub is away, with growing waits, as often as
 * `outageTriesMax` says and never past the task's own stop. `work` must be safe to repeat. Other errors pass at once.
 */
export async function withPatience<T>(
  task: Pick<Task, 'id' | 'ports' | 'settings' | 'stop'>,
  what: string,
  work: () => Promise<T>,
): Promise<T> {
  const { outageTriesMax, outageWaitMs, rateLimitWaitMsMax } = task.settings.limits
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (error instanceof OwnershipLost || error instanceof Stopped) throw error
      const wait = waitOf(error, outageWaitMs * 2 ** (tries - 1), rateLimitWaitMsMax)
      if (wait === null) throw error
      if (tries >= outageTriesMax) throw new TaskFault('github-away', `${what}: GitHub did not answer in ${tries} tries`, { cause: error })
      task.ports.logger.warn({ error, task: task.id, what, tries, waitMs: wait }, 'GitHub is away; waiting')
      if ((await sleepUnlessStopped(wait, task.stop)) === 'stopped') throw stopOf(task)
    }
  }
}

/** How long to wait; null = waiting does not help. What GitHub itself asks for may be longer than our own longest wait. */
function waitOf(error: unknown, growing: number, askedMsMax: number): number | null {
  const own = Math.min(growing, workerLimits.outageWaitMsMax)
  if (error instanceof Unreachable) return own
  if (error instanceof GitHubAway) return Math.max(own, Math.min(error.waitMs ?? 0, askedMsMax))
  if (!isRequestFailure(error)) return null
  const fault = classifyError(error)
  if (fault.kind === 'rejected') return null
  return fault.kind === 'later' ? Math.max(own, Math.min(fault.waitMs, askedMsMax)) : own
}

function isRequestFailure(error: unknown): boolean {
  return error instanceof Error && 'status' in error && 'request' in error
}
