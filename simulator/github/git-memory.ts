/** Answers kept, the oldest forgotten first: so many, whatever their size. */
const answersMax = 64

const answers = new Map<string, Promise<unknown>>()

/**
 * What git says of objects alone never changes: the same question of the same repository is asked once. The parts must
 * name all that the answer depends on, and commits by their SHA.
 */
export function rememberAnswer<T>(parts: readonly string[], ask: () => Promise<T>): Promise<T> {
  const key = parts.join('\0')
  const present = answers.get(key)
  if (present) return present as Promise<T>
  const asked = ask()
  answers.set(key, asked)
  asked.catch(() => answers.delete(key))
  const [oldest] = answers.keys()
  if (answers.size > answersMax && oldest !== undefined) answers.delete(oldest)
  return asked
}
