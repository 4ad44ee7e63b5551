/**
 * Every way a request to the model can fail, as data. `retry`: `backoff` = until the tries are used up, `once` = within
 * `rateLimitTriesMax`, `never` = the session ends. `billed`: whether the endpoint may want money for the try, which then
 * keeps its whole reservation.
 */
type FailureRow = { retry: 'backoff' | 'once' | 'never'; billed: 'no' | 'maybe'; hint: string }

export const failures = {
  unauthorized: { retry: 'never', billed: 'no', hint: 'the endpoint does not accept the key' },
  forbidden: { retry: 'never', billed: 'no', hint: 'the key may not use this model or endpoint' },
  'not-found': { retry: 'never', billed: 'no', hint: 'there is no such model or path at this endpoint' },
  'bad-request': { retry: 'never', billed: 'no', hint: 'the endpoint does not understand the request' },
  'context-length': { retry: 'never', billed: 'no', hint: 'the conversation is longer than the model can read' },
  'too-large': { retry: 'never', billed: 'no', hint: 'the request is larger than the endpoint takes' },
  quota: { retry: 'never', billed: 'no', hint: 'the account has no credit left' },
  'told-not-to': { retry: 'never', billed: 'no', hint: 'the endpoint asked not to try again' },
  certificate: { retry: 'never', billed: 'no', hint: "the endpoint's gateway has no working TLS connection behind it" },
  'rate-limited': { retry: 'once', billed: 'no', hint: 'the endpoint is limiting requests' },
  overloaded: { retry: 'backoff', billed: 'no', hint: 'the endpoint takes no requests just now' },
  server: { retry: 'backoff', billed: 'maybe', hint: 'the endpoint failed' },
  connect: { retry: 'backoff', billed: 'no', hint: 'the endpoint could not be reached' },
  reset: { retry: 'backoff', billed: 'maybe', hint: 'the connection broke' },
  stream: { retry: 'backoff', billed: 'maybe', hint: 'the answer broke off or could not be read' },
  empty: { retry: 'backoff', billed: 'maybe', hint: 'the model answered nothing' },
  'reasoning-only': { retry: 'backoff', billed: 'maybe', hint: 'the model thought and then answered nothing' },
  truncated: { retry: 'never', billed: 'maybe', hint: 'the answer reached the limit of output tokens before its end' },
  'too-long': { retry: 'never', billed: 'maybe', hint: 'the answer is larger than the session takes' },
  idle: { retry: 'never', billed: 'maybe', hint: 'the endpoint stopped sending' },
  'total-time': { retry: 'never', billed: 'maybe', hint: 'the answer took longer than one request may take' },
  cancelled: { retry: 'never', billed: 'maybe', hint: 'the session was stopped' },
  unexpected: { retry: 'never', billed: 'maybe', hint: 'the request failed in a way that is not known' },
} as const satisfies { [kind: string]: FailureRow }

export type FailureKind = keyof typeof failures
export type Failure = { kind: FailureKind; message: string; retryAfterMs: number | null }
