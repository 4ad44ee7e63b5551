import type { ProblemCode } from '../domain/index.ts'
import { redact } from '../telemetry/index.ts'
import { escapeLines, escapeText } from './escape.ts'
import { exitCodes, Refusal, UsageError } from './exit.ts'

const causesMax = 5

/** What, why, next, on one line each, escaped and without secrets. Returns the exit code. */
export function sayError(error: unknown, debug: boolean): number {
  const { text, exitCode } = errorWords(error, debug)
  process.stderr.write(`${text}\n`)
  return exitCode
}

/** The code of the catalogue stands at the end of the first line. */
export function errorWords(error: unknown, debug: boolean): { text: string; exitCode: number; code: ProblemCode } {
  if (error instanceof UsageError || error instanceof Refusal) {
    const { problem: code } = error
    // Their texts are ours, with foreign parts already escaped; once more does no harm.
    const lines = [`grokbot: ${error.message} [${code}]`, ...error.hints.map(hint => `  ${hint}`)]
    return { text: shown(lines), exitCode: error instanceof UsageError ? exitCodes.usage : exitCodes.refused, code }
  }
  const chain = causes(error)
  const lines = [
    `grokbot: broken: ${chain[0]} [broken]`,
    ...chain.slice(1).map(text => `  because ${text}`),
    ...(debug && error instanceof Error ? [error.stack ?? ''] : ['  LOG_LEVEL=debug shows where']),
  ]
  return { text: shown(lines), exitCode: exitCodes.failed, code: 'broken' }
}

function causes(error: unknown): string[] {
  const texts: string[] = []
  for (let at = error; at !== undefined && at !== null && texts.length < causesMax; at = at instanceof Error ? at.cause : undefined) {
    texts.push(escapeText(at instanceof Error ? at.message : String(at)))
  }
  return texts.length > 0 ? texts : ['something was thrown that is no error']
}

function shown(lines: readonly string[]): string {
  return escapeLines(redact(lines.join('\n')))
}
