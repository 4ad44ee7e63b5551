import * as z from 'zod'
import type { FieldError } from './answer.ts'

/** GitHub's limits, in characters. */
export const bodyCharactersMax = 65_536
export const titleCharactersMax = 256

export function characters(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}

export function bodyTooLong(resource: string, field: string): FieldError {
  return { resource, code: 'unprocessable', field, message: `Body is too long (maximum is ${bodyCharactersMax} characters)` }
}

/** A text of a request's schema. GitHub counts characters where zod counts UTF-16 units. */
export function textOf(charactersMax: number) {
  return z.string().superRefine((input, context) => {
    if (characters(input) <= charactersMax) return
    context.addIssue({ code: 'too_big', origin: 'string', maximum: charactersMax, inclusive: true, input })
  })
}
