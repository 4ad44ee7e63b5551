export { createLogger, type Logger, silentLogger } from './logger.ts'
export { redact, registerSecret } from './redact.ts'
