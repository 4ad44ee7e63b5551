import { stripVTControlCharacters } from 'node:util'
import * as z from 'zod'
import type { CommandResult } from '../ports.ts'
import { lenientInt } from './lenient.ts'
import { failed } from './outcome.ts'
import { refuseScript } from './refuse-script.ts'
import type { Primitive, ToolContext, ToolOutcome } from './tool.ts'

const Input = z.object({
  command: z.string().min(1).describe('A bash script. It starts in the workspace; each call is a new shell.'),
  timeout: lenientInt().describe('Milliseconds until it is killed; default 120000, at most 300000.'),
  description: z.string().default('').describe('One line: why it is run.'),
})
type Input = z.infer<typeof Input>

export const run: Primitive<Input> = {
  kind: 'execute',
  verb: 'run',
  readOnly: false,
  input: Input as z.ZodType<Input>,
  touch: () => ({ reads: 'everything', writes: 'everything' }),
  label: input => input.command,
  project: input => ({ command: input.command, ...(input.description === '' ? {} : { description: input.description }) }),
  async run(input, context) {
    const refusal = refuseScript(input.command, context.limits.scriptBytesMax)
    if (refusal !== null) return failed(refusal, 'not run')
    const wallMs = commandWallMs(input.timeout, context)
    const result = await context.sandbox.run({ argv: ['bash', '-c', input.command], wallMs, signal: context.signal })
    if (result.kind === 'refused') return failed(`The command was not run: ${result.reason}.`, 'not run')
    if (result.kind === 'unavailable') {
      const missing = result.missing.length > 0 ? ` Missing: ${result.missing.join(', ')}.` : ''
      return {
        ...failed(`The command was not run: ${result.reason}.${missing}`, 'no sandbox'),
        exitCode: null,
        sandbox: context.sandbox.report,
      }
    }
    return describeResult(result, wallMs, context)
  },
}

/** 0 or nothing = the default; a value is cut at the ceiling; never longer than the session has left. */
function commandWallMs(asked: number | undefined, context: Pick<ToolContext, 'limits' | 'timeLeftMs'>): number {
  const { commandWallMs: usual, commandWallMsMax: most } = context.limits
  const wanted = asked !== undefined && asked > 0 ? asked : usual
  return Math.max(1, Math.min(wanted, Math.max(most, usual), context.timeLeftMs()))
}

type Ended = Extract<CommandResult, { kind: 'ended' }>

const killed: { [reason in NonNullable<Ended['killedBy']>]: string } = {
  wall: 'timeout',
  cpu: 'processor time',
  memory: 'memory',
  processes: 'too many processes',
  disk: 'disk space',
  output: 'output limit',
  cancel: 'cancelled',
  sandbox: 'the sandbox ended',
}

function describeResult(result: Ended, wallMs: number, context: ToolContext): ToolOutcome {
  const exit = result.killedBy ? `killed (${killed[result.killedBy]})` : String(result.exitCode ?? 'unknown')
  const annotations: string[] = []
  if (result.killedBy === 'wall') annotations.push(`[killed after ${wallMs} ms; timeout is in milliseconds]`)
  const plain = stripVTControlCharacters(Buffer.from(result.output).toString('utf8')).replaceAll('\r\n', '\n')
  const cut = headAndTail(plain, context.limits.commandOutputCharsMax)
  if (cut.cut || result.outputBytes > result.output.byteLength) {
    const shown = Buffer.byteLength(cut.text)
    annotations.push(
      `[output cut: ${shown} of ${result.outputBytes} bytes shown, its head and its tail; write it to a file to read the rest]`,
    )
  }
  const head = [`exit: ${exit}`, ...annotations].join(' ')
  const text = plain === '' ? `${head}\n(no output)` : `${head}\n${context.quote('command output', cut.text)}`
  return {
    status: result.killedBy === 'cancel' ? 'cancelled' : result.exitCode === 0 ? 'ok' : 'error',
    text,
    detail: result.killedBy ? exit : `exit ${exit}`,
    exitCode: result.exitCode,
    output: { bytes: result.outputBytes, hash: result.outputHash },
    sandbox: result.report,
  }
}

const marker = '\n\n... (output truncated) ...\n\n'

/** The first and the last half of `charsMax` characters, never cutting a surrogate pair. */
function headAndTail(text: string, charsMax: number): { text: string; cut: boolean } {
  if (text.length <= charsMax) return { text, cut: false }
  const half = Math.floor(charsMax / 2)
  const headEnd = isHighSurrogate(text.charCodeAt(half - 1)) ? half - 1 : half
  const from = text.length - (charsMax - half)
  const tailStart = isHighSurrogate(text.charCodeAt(from - 1)) ? from + 1 : from
  return { text: text.slice(0, headEnd) + marker + text.slice(tailStart), cut: true }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}
