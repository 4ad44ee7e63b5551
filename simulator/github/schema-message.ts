import type * as z from 'zod'
import { characters } from './text-limit.ts'

/** GitHub's prose for a body that does not fit, one finding a line. */
export function schemaMessage(error: z.ZodError, body: unknown): string {
  return `Invalid request.\n\n${error.issues.map(issue => describe(issue, body)).join('\n')}`
}

function describe(issue: z.core.$ZodIssue, body: unknown): string {
  if (issue.code === 'unrecognized_keys') return issue.keys.map(key => `"${key}" is not a permitted key.`).join('\n')
  const value = valueAt(body, issue.path)
  const name = issue.path.map(String).join('/')
  if (value === undefined) return `"${String(issue.path.at(-1))}" wasn't supplied.`
  if (issue.code === 'too_big' && typeof value === 'string')
    return `Only ${issue.maximum} characters are allowed; ${characters(value)} were supplied.`
  if (issue.code === 'too_big' && Array.isArray(value))
    return `No more than ${issue.maximum} items are allowed; ${value.length} were supplied.`
  return `For 'properties/${name}', ${JSON.stringify(value)} is not valid: ${issue.message}.`
}

function valueAt(body: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined),
    body,
  )
}
