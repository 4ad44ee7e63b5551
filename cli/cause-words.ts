const causesMax = 5

/** Why something could not be reached: the innermost cause, by its code where it has one. `fetch` itself only says that it failed. */
export function causeWords(error: unknown): string {
  let cause = error
  for (let depth = 0; depth < causesMax && cause instanceof Error && cause.cause instanceof Error; depth += 1) cause = cause.cause
  if (!(cause instanceof Error)) return String(cause)
  const { code, message, name } = cause as NodeJS.ErrnoException
  // That of a time that ran out is a number, which says nothing.
  return typeof code === 'string' ? code : message || name
}
