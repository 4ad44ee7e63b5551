import { commandProblems } from './command.ts'
import { deliveryProblems } from './delivery.ts'
import type { Area, Problem, ProblemRow } from './problem.ts'
import { runProblems } from './run.ts'
import { startProblems } from './start.ts'

/** The one table of what can go wrong, by code. A code is stable for ever: scripts and people's notes hold it. */
export const catalogue = {
  ...inArea('start', startProblems),
  ...inArea('command', commandProblems),
  ...inArea('run', runProblems),
  ...inArea('delivery', deliveryProblems),
} satisfies Record<string, Problem>

export type ProblemCode = keyof typeof catalogue

export const problemCodes = Object.keys(catalogue) as ProblemCode[]

/** A code as it comes from a record, a command line or another version. */
export function isProblemCode(text: string | undefined): text is ProblemCode {
  return text !== undefined && Object.hasOwn(catalogue, text)
}

function inArea<Code extends string>(area: Area, rows: Record<Code, ProblemRow>): Record<Code, Problem> {
  const entries = Object.entries<ProblemRow>(rows).map(([code, row]) => [code, { area, ...row }])
  return Object.fromEntries(entries) as Record<Code, Problem>
}
