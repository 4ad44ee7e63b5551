import type { Cell, SandboxReport } from './event.ts'
import type { TaskState } from './task-state.ts'

/**
 * What the task's newest command ran in. An operator who narrowed the profile between two attempts changes it, so that the
 * one that was measured when the work tree was opened is only the answer while nothing has run. A check that stands for
 * several cells ran at the first of them.
 */
export function lastSandbox({ workspace, setup, session, checks }: TaskState): SandboxReport | null {
  const checked = cellsAsRun.flatMap(cell => checks[cell].filter(check => !check.cached).map(check => check.sandbox))
  const called = (session?.turns ?? []).flatMap(turn => turn.calls.flatMap(call => call.settled?.sandbox ?? []))
  return checked.at(-1) ?? called.at(-1) ?? setup?.sandbox ?? workspace?.sandbox ?? null
}

const cellsAsRun = ['baseCodeBaseTests', 'newCodeNewTests', 'newCodeBaseTests', 'baseCodeNewTests'] as const satisfies readonly Cell[]

/** What the sandbox does not give here, in words a reviewer understands. */
export function lackWords(lack: string): string {
  return lack === 'memoryTotal: per-process' ? 'memory limited per process only' : `without ${lack}`
}
