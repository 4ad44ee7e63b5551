import { APIConnectionError, APIError } from 'openai'
import { redact } from '../../telemetry/index.ts'
import { type Failure, type FailureKind, failures } from './failure-kinds.ts'
import { ConnectFault, ResetFault, TooMuchFault } from './model-fetch.ts'

const statuses: { readonly [status: number]: FailureKind } = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not-found',
  413: 'too-large',
  429: 'rate-limited',
  503: 'overloaded',
  525: 'certificate',
  526: 'certificate',
  529: 'overloaded',
}

/** What a server says in `error.code`, whatever the status, or in the `error.type` of a stream. */
const codes: { readonly [code: string]: FailureKind } = {
  context_length_exceeded: 'context-length',
  string_above_max_length: 'too-large',
  insufficient_quota: 'quota',
  invalid_api_key: 'unauthorized',
  model_not_found: 'not-found',
  rate_limit_exceeded: 'rate-limited',
  server_error: 'server',
  overloaded_error: 'server',
}

/** Servers without codes say it in words; consulted only for a 400 or 413 that carries no code we know. */
const contextWords = [
  'too long for this model',
  'prompt is too long',
  'maximum prompt length',
  'maximum context length',
  'context_length_exceeded',
]

export function classifyFailure(error: unknown): Failure {
  const fault = findFault(error)
  if (fault instanceof ConnectFault) return named('connect', describe(fault))
  if (fault instanceof TooMuchFault) return named('too-long', fault.message)
  if (fault instanceof ResetFault) return named(error instanceof APIConnectionError ? 'reset' : 'stream', describe(fault))
  if (error instanceof APIConnectionError) return named('reset', describe(error))
  if (error instanceof APIError) return classifyAnswer(error)
  if (error instanceof SyntaxError) return named('stream', 'the endpoint sent an event that is not JSON')
  return named('unexpected', error instanceof Error ? error.message : String(error))
}

function classifyAnswer(error: APIError): Failure {
  const message = clipMessage(error.message)
  const retryAfterMs = retryAfter(error.headers)
  const kind = kindOfAnswer(error)
  const retries = failures[kind].retry !== 'never'
  if (retries && error.headers?.get('x-should-retry') === 'false') return { kind: 'told-not-to', message, retryAfterMs }
  return { kind, message, retryAfterMs }
}

function kindOfAnswer(error: APIError): FailureKind {
  const byCode = codes[error.code ?? '']
  if (byCode) return byCode
  // An error inside a stream has no status of its own: its type is the next best word.
  if (error.status === undefined) return codes[error.type ?? ''] ?? 'stream'
  if (error.status === 400 || error.status === 413) {
    const words = error.message.toLowerCase()
    if (contextWords.some(phrase => words.includes(phrase))) return 'context-length'
  }
  const byStatus = statuses[error.status]
  if (byStatus) return byStatus
  return error.status >= 500 ? 'server' : 'bad-request'
}

/** Retry-After in milliseconds: seconds or a date, or the finer `retry-after-ms` some servers send; null = none, or nonsense. */
function retryAfter(headers: Headers | undefined): number | null {
  const milliseconds = Number.parseFloat(headers?.get('retry-after-ms') ?? '')
  if (Number.isFinite(milliseconds) && milliseconds >= 0) return milliseconds
  const value = headers?.get('retry-after')
  if (!value) return null
  const seconds = Number(value)
  if (Number.isFinite(seconds)) return seconds >= 0 ? seconds * 1000 : null
  const served = Date.parse(headers?.get('date') ?? '')
  const until = Date.parse(value)
  return Number.isNaN(until) || Number.isNaN(served) ? null : Math.max(0, until - served)
}

function findFault(error: unknown): Error | null {
  for (let current = error, depth = 0; current instanceof Error && depth < 5; current = current.cause, depth++) {
    if (current instanceof ConnectFault || current instanceof ResetFault || current instanceof TooMuchFault) return current
  }
  return null
}

function describe(error: Error): string {
  const code = error.cause instanceof Error ? (error.cause as NodeJS.ErrnoException).code : undefined
  return code ? `${error.message} (${code})` : error.message
}

function named(kind: FailureKind, message: string): Failure {
  return { kind, message: clipMessage(message), retryAfterMs: null }
}

const messageCharsMax = 500

/** It is recorded, and it may be posted: an endpoint that repeats the key it was given must not have it stand there. */
function clipMessage(message: string): string {
  const clean = redact(message)
  return clean.length > messageCharsMax ? `${clean.slice(0, messageCharsMax)}…` : clean
}
