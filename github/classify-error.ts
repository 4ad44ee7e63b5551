import { RequestError } from '@octokit/request-error'

/**
 * What a failed request means for the thing it asked for.
 * `rejected`: GitHub said no, nothing was done. `uncertain`: no answer, or a server error: it may have been done.
 * `later`: a rate limit; nothing was done, and GitHub wants to be left alone for `waitMs`. Callers bound that.
 */
export type RequestFault =
  | { kind: 'rejected'; status: number; message: string }
  | { kind: 'uncertain'; message: string }
  | { kind: 'later'; waitMs: number; message: string }

/** What GitHub asks for where it names no time. */
const unnamedWaitMs = 60_000
/** Its clock has whole seconds: one more, so that a request does not come right before the reset. */
const resetMarginMs = 1_000

export function classifyError(error: unknown): RequestFault {
  if (!(error instanceof RequestError) || !error.response)
    return { kind: 'uncertain', message: String(error instanceof Error ? error.message : error) }
  const { status, response, message } = error
  const wait = waitOf(response.headers) ?? (isSecondaryLimit(response.data) ? unnamedWaitMs : null)
  if (status === 429 || (status === 403 && wait !== null)) return { kind: 'later', waitMs: wait ?? unnamedWaitMs, message }
  if (status >= 500 || status === 408) return { kind: 'uncertain', message }
  return { kind: 'rejected', status, message }
}

/** `retry-after` in seconds or as a date; else the end of a window that is used up. Null: no limit is named. */
function waitOf(headers: Record<string, unknown>): number | null {
  const now = serverTime(headers)
  const after = headers['retry-after']
  if (typeof after === 'string' || typeof after === 'number') {
    const at = Number(after) > 0 ? now + Number(after) * 1_000 : Date.parse(String(after))
    if (at > now) return at - now
  }
  if (headers['x-ratelimit-remaining'] !== '0') return null
  const reset = Number(headers['x-ratelimit-reset']) * 1_000
  return Number.isFinite(reset) && reset > now ? reset - now + resetMarginMs : unnamedWaitMs
}

/** By GitHub's clock, not by ours: the two may differ by more than the wait. */
function serverTime(headers: Record<string, unknown>): number {
  const date = Date.parse(String(headers['date']))
  return Number.isNaN(date) ? Date.now() : date
}

/** The one structured sign of a secondary limit without `retry-after`: where GitHub points to for more. */
function isSecondaryLimit(body: unknown): boolean {
  const url = typeof body === 'object' && body !== null && 'documentation_url' in body ? String(body.documentation_url) : ''
  return /#(?:about-)?(?:secondary|abuse)-rate-limits$/.test(url)
}

export function statusOf(error: unknown): number | null {
  return error instanceof RequestError && error.response ? error.status : null
}
