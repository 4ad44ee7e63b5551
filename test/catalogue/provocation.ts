import type { ProblemCode } from '../../domain/index.ts'

/** An empty folder that every user may pass through, and one that all provocations have together. */
export type Place = { folder: string; shared: string }

/** What came out: the code, and what a person reads, in which that code is marked once. */
export type Provoked = { code: string | undefined; words: string }

export type Provocations<Code extends ProblemCode> = Record<Code, (place: Place) => Provoked | Promise<Provoked>>
