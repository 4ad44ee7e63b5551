export const areas = ['start', 'command', 'run', 'delivery'] as const
/** `start`: a command line or a process that does not start; `command`: a comment that starts nothing; `run`: a task without success. */
export type Area = (typeof areas)[number]

/**
 * One way things go wrong, in Markdown. `what`: a sentence. `why`: the usual causes. `next`: one or two things to do, each a
 * clause that may stand behind "Go on:".
 */
export type ProblemRow = { what: string; why: string; next: readonly [string] | readonly [string, string] }
export type Problem = ProblemRow & { area: Area }
