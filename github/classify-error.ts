import { RequestError } from '@octokit/request-error'

/**
 * What a failed request means for the thing it asked for.
 * `rejected`: GitHub said no, nothing was done. `uncertain`: no answer, or a server error: it may have been done.
 * `later`: a rate limit; nothing was done.
 */
export type RequestFault =
  | { kind: 'rejected'; status: number; message: string }
  | { kind: 'uncertain'; message: string }
  | { kind: 'later'; waitMs: number; message: string }

const secondaryWaitMs = 60_000

export function classifyError(error: unknown): RequestFault {
  if (!(error instanceof RequestError) || !error.response)
    return { kind: 'uncertain', message: String(error instanceof Error ? error.message : error) }
  const { status, response, message } = error
  const wait = waitOf(response.headers)
  if (status === 429 || (status === 403 && wait !== null)) return { kind: 'later', waitMs: wait ?? secondaryWaitMs, message }
  if (status >= 500 || status === 408) return { kind: 'uncertain', message }
  return { kind: 'rejected', status, message }
}

function waitOf(headers: Record<string, unknown>): number | null {
  const after = Number(headers['retry-after'])
  if (Number.isFinite(after) && after > 0) return after * 1000
  return headers['x-ratelimit-remaining'] === '0' ? secondaryWaitMs : null
}

export function statusOf(error: unknown): number | null {
  return error instanceof RequestError && error.response ? error.status : null
}
