/** What was found of one part. `what` says why, `mend` the command or setting that changes it. Foreign text is not escaped yet. */
export type Finding = { part: string; state: 'ok' | 'degraded' | 'broken'; what: string; mend: string | null }

export function ok(part: string, what: string): Finding {
  return { part, state: 'ok', what, mend: null }
}

export function degraded(part: string, what: string, mend: string): Finding {
  return { part, state: 'degraded', what, mend }
}

export function broken(part: string, what: string, mend: string): Finding {
  return { part, state: 'broken', what, mend }
}

/** A check that throws is itself a finding: doctor must not stop at the first thing that is wrong. */
export async function tried(part: string, mend: string, check: () => Finding[] | Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await check()
  } catch (error) {
    return [broken(part, error instanceof Error ? error.message : String(error), mend)]
  }
}
