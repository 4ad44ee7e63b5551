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
      serializers: { error: serializeError },
      formatters: { log: redactFields },
    },
    destination,
  )
}

export const silentLogger: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined }

function serializeError(error: unknown) {
  if (!(error instanceof Error)) return redact(String(error))
  return {
    type: error.name,
    message: redact(error.message),
    stack: redact(error.stack ?? ''),
    cause: error.cause ? redact(String(error.cause)) : undefined,
  }
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
