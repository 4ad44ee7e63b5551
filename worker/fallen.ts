import type { ProblemCode } from '../domain/index.ts'

/** A rung that does not hold. `why` is a clause people read: "The change is ready, but <why>." */
export type Fallen = { kind: 'fallen'; code: ProblemCode; why: string }

export function fallen(code: ProblemCode, why: string): Fallen {
  return { kind: 'fallen', code, why }
}
