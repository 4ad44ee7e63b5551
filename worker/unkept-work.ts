import { existsSync } from 'node:fs'
import type { TaskState } from '../domain/index.ts'
import { patchPath } from './keep-patch.ts'

/** Whether the record holds work of a session that is in no patch file yet: its process died before it was collected. */
export function hasUnkeptWork({ change, snapshot, session }: TaskState, taskDir: string): boolean {
  if (change) return change.files.length > 0 && !existsSync(patchPath(taskDir))
  if (snapshot) return true
  return (session?.turns ?? []).some(turn => turn.calls.some(call => (call.settled?.edits.length ?? 0) > 0))
}
