export { armCrashpoint, type CrashpointName, crashpoint, crashpointNames } from './crashpoint.ts'
export { createLogger, type Logger, silentLogger } from './logger.ts'
export { redact, registerSecret } from './redact.ts'
