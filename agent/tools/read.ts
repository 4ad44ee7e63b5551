import * as z from 'zod'
import { lenientInt } from './lenient.ts'
import { failed, fileFault, formatBytes, ok } from './outcome.ts'
import { nameHint } from './similar-names.ts'
import { readTextFile } from './text-file.ts'
import type { Primitive, ToolContext, ToolOutcome } from './tool.ts'

const Input = z.object({
  path: z.string().min(1).describe('The file, relative to the workspace or absolute.'),
  offset: lenientInt().describe('First line to show, from 1. Negative counts from the end. Only for files too long to show whole.'),
  limit: lenientInt().describe('How many lines to show.'),
})
type Input = z.infer<typeof Input>

export const read: Primitive<Input> = {
  kind: 'read',
  verb: 'read',
  readOnly: true,
  input: Input as z.ZodType<Input>,
  touch: input => ({ reads: input.path, writes: null }),
  label: input => input.path,
  project: input => ({
    path: input.path,
    ...(input.offset === undefined || input.offset < 0 ? {} : { offset: Math.max(1, input.offset) }),
    ...(input.limit === undefined || input.limit < 1 ? {} : { limit: input.limit }),
  }),
  async run(input, context) {
    const answer = await context.files.read(input.path, context.limits.readBytesMax)
    if (answer.kind === 'fault') return readFault(input, answer, context)
    const file = readTextFile(answer.content)
    if (file.kind === 'binary') {
      return failed(`${input.path} is ${file.what} (${formatBytes(answer.content.byteLength)}); only text files can be shown.`, 'binary')
    }
    if (file.kind === 'lfs-pointer') {
      return failed(`${input.path} is a Git LFS pointer; the ${file.size} bytes it stands for are not in this work tree.`, 'lfs pointer')
    }
    if (answer.content.byteLength === 0) return ok(`${input.path} is empty.`, '0 bytes')
    const remarks: string[] = []
    if (file.ends === 'CRLF') remarks.push('line ends are CRLF, shown as LF; edits keep them')
    if (file.ends === 'mixed') remarks.push('line ends are mixed CRLF and LF, all shown as LF; edits keep each one')
    if (file.bom) remarks.push('it begins with a byte order mark, not shown; edits keep it')
    if (file.invalidSequences)
      remarks.push('it is not valid UTF-8; bytes that can not be shown appear as U+FFFD and edits elsewhere keep them')
    return showLines(input, file.text, remarks, context)
  },
}

function showLines(input: Input, text: string, remarks: string[], context: ToolContext): ToolOutcome {
  const { limits, names } = context
  const lines = text.split('\n')
  const total = lines.length
  const offset = input.offset ?? 1
  const first = Math.min(offset < 0 ? Math.max(1, total + offset + 1) : Math.max(1, offset), Number.MAX_SAFE_INTEGER)
  if (first > total)
    return failed(`${input.path} has only ${total} lines; ${names.parameter('offset')} ${first} is behind its end.`, 'behind the end')
  const count = Math.min(Math.max(1, input.limit ?? limits.readLinesMax), limits.readLinesMax)
  const shown = lines
    .slice(first - 1, first - 1 + count)
    .map((line, index) => `${first + index}→${line.endsWith('\r') ? line.slice(0, -1) : line}`)
  const body = shown.join('\n')
  const tokens = Math.ceil(Buffer.byteLength(body) / 4)
  if (tokens > limits.readTokensMax) {
    const longest = Math.max(...shown.map(line => Buffer.byteLength(line)))
    const way =
      longest / 4 > limits.readTokensMax / 2
        ? `One line alone has ${formatBytes(longest)}: look at a part of it with ${names.tool('run')} (cut, head -c).`
        : `Ask for fewer lines with ${names.parameter('offset')} and ${names.parameter('limit')}, or find the place with ${names.tool('grep')}.`
    return failed(
      `${input.path} lines ${first}-${first + shown.length - 1} are about ${tokens} tokens; at most ${limits.readTokensMax} are shown at once. ${way}`,
      'too large',
    )
  }
  const last = first + shown.length - 1
  if (first > 1 || last < total) {
    const more = last < total ? `; go on with ${names.parameter('offset')} ${last + 1}` : ''
    remarks.unshift(`lines ${first}-${last} of ${total}${more}`)
  }
  const head = remarks.length > 0 ? `[${remarks.join('. ')}]\n` : ''
  return ok(`${head}${context.quote(`file ${input.path}`, body)}`, formatBytes(Buffer.byteLength(body)))
}

async function readFault(input: Input, fault: Parameters<typeof fileFault>[2], context: ToolContext): Promise<ToolOutcome> {
  if (fault.code === 'is-directory')
    return failed(`${input.path} is a folder; look into it with ${context.names.tool('list')}.`, fault.code)
  if (fault.code === 'too-large') {
    const most = formatBytes(context.limits.readBytesMax)
    return failed(
      `${input.path} is larger than ${most}. Find the place with ${context.names.tool('grep')}, or show a part of it with ${context.names.tool('run')}.`,
      fault.code,
    )
  }
  const outcome = fileFault('read', input.path, fault)
  return fault.code === 'not-found' ? { ...outcome, text: `${outcome.text}${await nameHint(input.path, context.files)}` } : outcome
}
