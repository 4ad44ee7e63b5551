import { credentialShapes } from './credential-shapes.ts'
import { holdsSplitSecret, redactRegistered } from './registered-secrets.ts'

/** For every text that is logged, printed or posted: without the credentials of this process, and without what looks like one. */
export function redact(text: string): string {
  let clean = redactRegistered(text)
  for (const { pattern } of credentialShapes) clean = clean.replace(pattern, '[redacted]')
  return clean
}

/** Stands for a text of which a part would be a credential once its pieces are put together. */
export const withheldWords = 'Withheld: put together, parts of this text are a credential of this installation.'

/** As `redact`, for the words of a model: when it has spread a credential over them, none of them go out. */
export function withoutSecrets(text: string): string {
  const clean = redact(text)
  return holdsSplitSecret(clean) ? withheldWords : clean
}

/**
 * A copy of plain data in which no text holds a credential of this process. What only looks like one stays: it may be a
 * file of the repository, and what is recorded must be what the model was shown.
 */
export function redactStrings<T>(value: T): T {
  if (typeof value === 'string') return redactRegistered(value) as T
  if (Array.isArray(value)) return value.map(redactStrings) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, redactStrings(inner)])) as T
}

/** What looks like a credential in a file of a change, also in one of UTF-16: each with its kind and its text. */
export function findCredentials(text: string): { name: string; text: string }[] {
  const holdsOwn = redactRegistered(text) !== text || holdsSplitSecret(text)
  const own = holdsOwn ? [{ name: 'credential of this installation', text: '' }] : []
  const readings = text.includes('\0') ? [text, text.replaceAll('\0', '')] : [text]
  const shaped = credentialShapes
    .filter(({ inFiles }) => inFiles)
    .flatMap(({ name, pattern }) => readings.flatMap(read => [...read.matchAll(pattern)].map(([found]) => ({ name, text: found }))))
  return [...own, ...shaped]
}
