export { armCrashpoint, type CrashpointName, crashpoint, crashpointNames } from './crashpoint.ts'
export { createLogger, type Logger, silentLogger } from './logger.ts'
export { findCredentials, redact, redactStrings, withheldWords, withoutSecrets } from './redact.ts'
export { lastingSecrets, registerSecret } from './registered-secrets.ts'
