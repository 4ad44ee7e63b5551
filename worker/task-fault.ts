import type { ProblemCode } from '../domain/index.ts'

/** A known reason why a task can not go on, which is not its own fault: it ends as `errored`, with the code. */
export class TaskFault extends Error {
  override readonly name = 'TaskFault'
  /** Not called `code`: that is how errors of Node are told apart. */
  readonly problem: ProblemCode
  constructor(problem: ProblemCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.problem = problem
  }
}
