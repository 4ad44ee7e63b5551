import * as z from 'zod'
import { lenientBoolean, lenientInt } from './lenient.ts'
import { failed, fileFault, ok } from './outcome.ts'
import type { Primitive, ToolContext, ToolOutcome } from './tool.ts'

const modes = ['content', 'files_with_matches', 'count'] as const

const Input = z.object({
  pattern: z.string().min(1).describe('Regular expression (ripgrep syntax).'),
  path: z.string().min(1).optional().describe('File or folder; default the workspace.'),
  glob: z.string().min(1).optional().describe('Only files that match, e.g. *.ts or !**/gen/**.'),
  before: lenientInt().describe('Lines shown before each match.'),
  after: lenientInt().describe('Lines shown after each match.'),
  context: lenientInt().describe('Lines shown before and after.'),
  ignoreCase: lenientBoolean().describe('Ignore case.'),
  type: z.string().min(1).optional().describe('Only files of a type ripgrep knows, e.g. ts, py.'),
  headLimit: lenientInt().describe('Most lines shown; default 200.'),
  multiline: lenientBoolean().describe('Let the pattern match across lines.'),
  outputMode: z.enum(modes).optional().meta({ hidden: true }),
})
type Input = z.infer<typeof Input>

export const grep: Primitive<Input> = {
  kind: 'search',
  verb: 'search',
  readOnly: true,
  input: Input as z.ZodType<Input>,
  touch: () => ({ reads: 'everything', writes: null }),
  label: input => (input.path === undefined ? input.pattern : `${input.pattern}  ${input.path}`),
  project: input => ({ pattern: input.pattern, ...(input.path === undefined ? {} : { path: input.path }) }),
  async run(input, context) {
    const { limits, files } = context
    const answer = await files.search(ripgrepArguments(input, limits), limits.grepStdoutBytesMax, limits.grepMs)
    if (answer.kind === 'fault') return fileFault('search', input.path ?? '.', answer)
    if (answer.exitCode === 1 && answer.stdout.byteLength === 0) return ok(wrap(context, 'No matches found'), 'no match')
    if (answer.timedOut && answer.stdout.byteLength === 0) {
      return failed(
        `The search took longer than ${limits.grepMs / 1000} s and was stopped. Narrow it with ${context.names.parameter('path')} or ${context.names.parameter('glob')}.`,
        'timeout',
      )
    }
    if (answer.exitCode === 2 && answer.stdout.byteLength === 0) {
      return failed(`ripgrep failed (exit 2) in ${input.path ?? '/workspace'}:\n${context.quote('ripgrep error', answer.stderr)}`, 'exit 2')
    }
    return shape(input, Buffer.from(answer.stdout).toString('utf8'), answer.cut || answer.timedOut, context)
  },
}

function ripgrepArguments(input: Input, limits: ToolContext['limits']): string[] {
  const mode = input.outputMode ?? 'content'
  const lines = (value: number | undefined) => String(Math.min(Math.max(0, value ?? 0), limits.grepLinesMax))
  return [
    '--no-config',
    '--color=never',
    '--no-require-git',
    '--sort=path',
    `--max-columns=${limits.grepLineCharsMax}`,
    '--max-columns-preview',
    '--max-filesize=5M',
    ...(mode === 'content'
      ? ['--heading', '--with-filename', '--line-number']
      : mode === 'count'
        ? ['--count', '--with-filename']
        : ['--files-with-matches']),
    ...(mode === 'content' && input.before !== undefined ? [`--before-context=${lines(input.before)}`] : []),
    ...(mode === 'content' && input.after !== undefined ? [`--after-context=${lines(input.after)}`] : []),
    ...(mode === 'content' && input.context !== undefined ? [`--context=${lines(input.context)}`] : []),
    ...(input.ignoreCase ? ['--ignore-case'] : []),
    ...(input.multiline ? ['--multiline', '--multiline-dotall'] : []),
    // One argument each: a value that begins with a dash stays a value.
    ...(input.type === undefined ? [] : [`--type=${input.type}`]),
    ...(input.glob === undefined ? [] : [`--glob=${input.glob}`]),
    `--regexp=${input.pattern}`,
    '--',
    input.path ?? '.',
  ]
}

const matchLine = /^\d+:/
const contextLine = /^\d+-/

/** Cut to lines, then to bytes; the first line says how many there are, as far as it is known. */
function shape(input: Input, stdout: string, cut: boolean, context: ToolContext): ToolOutcome {
  const { limits } = context
  const content = (input.outputMode ?? 'content') === 'content'
  const most = content ? limits.grepLinesMax : limits.grepFilesMax
  const limit = Math.min(
    input.headLimit !== undefined && input.headLimit > 0 ? input.headLimit : content ? limits.grepLinesDefault : limits.grepFilesDefault,
    most,
  )
  const lines = stdout.replaceAll('\r\n', '\n').replace(/\n$/, '').split('\n')
  const kept: string[] = []
  let counted = 0
  let bytes = 0
  let dropped = false
  for (const line of lines) {
    const counts = content ? matchLine.test(line) || contextLine.test(line) : true
    bytes += Buffer.byteLength(line) + 1
    if ((counts && counted >= limit) || bytes > limits.grepOutputBytesMax) {
      dropped = true
      break
    }
    if (counts) counted++
    kept.push(line)
  }
  const all = lines.filter(line => (content ? matchLine.test(line) : true)).length
  const noun = content ? 'matching lines' : input.outputMode === 'count' ? 'files with counts' : 'files'
  const head = `Found ${cut ? 'at least ' : ''}${all} ${noun}${dropped ? `, the first ${counted} lines are shown` : ''}`
  return ok(wrap(context, `${head}\n${kept.join('\n')}`), `${all} ${content ? 'lines' : 'files'}`)
}

function wrap(context: ToolContext, text: string): string {
  return `<workspace_result workspace_path="/workspace">\n${context.quote('search result', text)}\n</workspace_result>`
}
