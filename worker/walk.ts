import { existsSync } from 'node:fs'
import type { TaskState } from '../domain/index.ts'
import { patchPath } from './keep-patch.ts'

/**
 * How far an attempt walks the road. `keep-work`: the task was asked to end, for whatever reason, and its process died before
 * its work was in a patch; it goes as far as that, without a request or a command. `end-only`: it was asked to end and there
 * is nothing to keep, or it was taken over too often.
 */
export type Walk = 'whole' | 'keep-work' | 'end-only'

export function walkOf(state: TaskState, taskDir: string, exhausted: boolean): Walk {
  if (exhausted) return 'end-only'
  if (!state.cancel) return 'whole'
  return hasUnkeptWork(state, taskDir) ? 'keep-work' : 'end-only'
}

/** Whether the record holds work of a session that is in no patch file yet: its process died before it was collected. */
export function hasUnkeptWork({ change, snapshot, session }: TaskState, taskDir: string): boolean {
  if (change) return change.files.length > 0 && !existsSync(patchPath(taskDir))
  if (snapshot) return true
  return (session?.turns ?? []).some(turn => turn.calls.some(call => (call.settled?.edits.length ?? 0) > 0))
}
