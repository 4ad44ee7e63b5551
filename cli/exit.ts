import { catalogue, type Outcome, type ProblemCode } from '../domain/index.ts'

/** What a script can rely on. 0 only with positive evidence. */
export const exitCodes = { done: 0, failed: 1, usage: 2, refused: 3, limit: 4, lowerRung: 5, cancelled: 130 } as const

export function exitCodeOf(outcome: Outcome): number {
  switch (outcome) {
    case 'succeeded':
      return exitCodes.done
    case 'failed':
    case 'errored':
    case 'superseded':
      return exitCodes.failed
    case 'refused':
      return exitCodes.refused
    case 'timed-out':
      return exitCodes.limit
    case 'cancelled':
      return exitCodes.cancelled
  }
}

/** Nothing was started although it was asked for correctly: why, and how to go on. Ends with 3. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  /** Not called `code`: that is how errors of Node are told apart. */
  readonly problem: ProblemCode
  readonly hints: readonly string[]
  constructor(code: ProblemCode, message: string, hints?: readonly string[]) {
    super(message)
    this.problem = code
    this.hints = hints ?? nextOf(code)
  }
}

/** The caller's mistake: what is wrong, and how to go on, one line each; without hints, as the catalogue says. Ends with 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly problem: ProblemCode
  readonly hints: readonly string[]
  constructor(code: ProblemCode, message: string, hints?: readonly string[]) {
    super(message)
    this.problem = code
    this.hints = hints ?? nextOf(code)
  }
}

function nextOf(code: ProblemCode): string[] {
  return catalogue[code].next.map(withoutMarks)
}

/** The catalogue is Markdown; a terminal shows the marks of code as they are. */
export function withoutMarks(text: string): string {
  return text.replaceAll('`', '')
}
