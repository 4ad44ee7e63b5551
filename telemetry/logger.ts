import pino from 'pino'
import { telemetryLimits } from './limits.ts'
import { redact } from './redact.ts'

export type Logger = {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** Messages are static strings with fields; every text in a field passes the redaction before it is written. */
export function createLogger(level: string, destination: NodeJS.WritableStream = process.stderr): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { error: (error: unknown) => serializeError(error, showsStacks(level)) },
      formatters: { log: redactFields },
    },
    destination,
  )
}

export const silentLogger: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined }

/** Where an error was thrown is for whoever looks for a fault; what is tried again for an hour would fill a log with it. */
export function showsStacks(level: string): boolean {
  return level === 'debug' || level === 'trace'
}

function serializeError(error: unknown, withStack: boolean) {
  if (!(error instanceof Error)) return redact(String(error))
  return {
    type: error.name,
    message: redact(error.message),
    ...codesOf(error),
    stack: withStack ? redact(error.stack ?? '') : undefined,
    cause: redact(causeText(error.cause)) || undefined,
  }
}

/** How errors of Node and of HTTP clients are told apart. */
function codesOf(error: Error & { code?: unknown; status?: unknown }) {
  const { code, status } = error
  return {
    code: typeof code === 'string' ? redact(code) : typeof code === 'number' ? code : undefined,
    status: typeof status === 'number' ? status : undefined,
  }
}

/** From the outermost cause to the innermost, which is the one that says why. One of many addresses has no message, only a code. */
function causeText(outermost: unknown): string {
  const texts: string[] = []
  for (let at = outermost; at !== undefined && at !== null && texts.length < telemetryLimits.logCausesMax; at = nextCause(at)) {
    texts.push(at instanceof Error ? at.message || String((at as NodeJS.ErrnoException).code ?? at.name) : partWords(at))
  }
  return [...new Set(texts)].join(': ')
}

/** Anything may be thrown; a log line must come of it. */
function partWords(thrown: unknown): string {
  if (typeof thrown !== 'object' || thrown === null) return String(thrown)
  const { message, code } = thrown as { message?: unknown; code?: unknown }
  return [message, code].find(part => typeof part === 'string') ?? 'an object'
}

function nextCause(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined
}

/** Errors have a serializer of their own; what is nested deeper than any field of ours is not written. */
function redactValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return redact(value)
  if (typeof value !== 'object' || value === null || value instanceof Error) return value
  if (depth === 0) return '[nested]'
  if (Array.isArray(value)) return value.map(inner => redactValue(inner, depth - 1))
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, redactValue(inner, depth - 1)]))
}

function redactFields(fields: Record<string, unknown>) {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, redactValue(value, telemetryLimits.logDepthMax)]))
}
