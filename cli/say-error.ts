import { redact } from '../telemetry/index.ts'
import { escapeLines, escapeText } from './escape.ts'
import { exitCodes, Refusal, UsageError } from './exit.ts'

const causesMax = 5

/** What, why, next, on one line each, escaped and without secrets. Returns the exit code. */
export function sayError(error: unknown, debug: boolean): number {
  if (error instanceof UsageError || error instanceof Refusal) {
    // Their texts are ours, with foreign parts already escaped; once more does no harm.
    write([`grokbot: ${error.message}`, ...error.hints.map(hint => `  ${hint}`)])
    return error instanceof UsageError ? exitCodes.usage : exitCodes.refused
  }
  const chain = causes(error)
  write([
    `grokbot: broken: ${chain[0]}`,
    ...chain.slice(1).map(text => `  because ${text}`),
    ...(debug && error instanceof Error ? [error.stack ?? ''] : ['  LOG_LEVEL=debug shows where']),
  ])
  return exitCodes.failed
}

function causes(error: unknown): string[] {
  const texts: string[] = []
  for (let at = error; at !== undefined && at !== null && texts.length < causesMax; at = at instanceof Error ? at.cause : undefined) {
    texts.push(escapeText(at instanceof Error ? at.message : String(at)))
  }
  return texts.length > 0 ? texts : ['something was thrown that is no error']
}

function write(lines: readonly string[]): void {
  process.stderr.write(`${escapeLines(redact(lines.join('\n')))}\n`)
}
