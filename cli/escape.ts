export { escapeLines, escapeShort, escapeText, toSafeJson } from '../telemetry/index.ts'
