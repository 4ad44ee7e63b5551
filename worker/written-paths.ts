import type { TaskState } from '../domain/index.ts'
import { showPath } from '../git/index.ts'

/**
 * Paths the model wrote with file tools: they belong to the change even when they are new, and when git ignores them. A
 * tool's path is the text as it is; everywhere else a path is shown, where `\x41` stands for a byte.
 */
export function writtenPaths({ session }: Pick<TaskState, 'session'>): string[] {
  const calls = (session?.turns ?? []).flatMap(turn => turn.calls)
  return [...new Set(calls.flatMap(call => call.settled?.edits.map(edit => showPath(Buffer.from(edit.path))) ?? []))]
}
