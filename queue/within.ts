/** What the work comes to, or an error when it takes longer. The work itself goes on; what it comes to then is nobody's. */
export async function within<T>(waitMs: number, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`not done within ${waitMs} ms`)), waitMs)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
