import pino from 'pino'
import { redact } from './redact.ts'

export type Logger = {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** Messages are static strings with fields; every string field passes the redaction before it is written. */
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

function redactFields(fields: Record<string, unknown>) {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, typeof value === 'string' ? redact(value) : value]))
}
