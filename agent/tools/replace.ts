import * as z from 'zod'
import type { FileHost } from '../ports.ts'
import { ignoreNote } from './ignored.ts'
import { lenientBoolean } from './lenient.ts'
import { missHint } from './miss-hint.ts'
import { contentHash, failed, fileFault, formatBytes, ok } from './outcome.ts'
import { replaceBytes } from './replace-bytes.ts'
import { nameHint } from './similar-names.ts'
import { readTextFile } from './text-file.ts'
import type { Primitive, ToolContext, ToolOutcome } from './tool.ts'
import { workspacePath } from './workspace-path.ts'

const Input = z.object({
  path: z.string().min(1).describe('The file, relative to the workspace or absolute.'),
  oldString: z
    .string()
    .describe('The text to replace, exactly as in the file, without line numbers. Empty only for a file that does not exist or is empty.'),
  newString: z.string().describe('What takes its place.'),
  replaceAll: lenientBoolean().describe('Replace every occurrence. Default false: there must be exactly one.'),
})
type Input = z.infer<typeof Input>

export const replace: Primitive<Input> = {
  kind: 'edit',
  verb: 'edit',
  readOnly: false,
  input: Input as z.ZodType<Input>,
  touch: input => ({ reads: input.path, writes: input.path }),
  label: input => input.path,
  project: input => ({ path: input.path }),
  async run(input, context) {
    const { names, limits, files } = context
    const { path } = input
    if (input.oldString === input.newString)
      return failed(`${names.parameter('oldString')} and ${names.parameter('newString')} are the same; nothing was changed.`, 'no change')
    const answer = await files.read(path, limits.readBytesMax)
    if (answer.kind === 'fault' && answer.code !== 'not-found') return fileFault('edit', path, answer)
    if (input.oldString === '') return createWhole(input, answer.kind === 'read' ? answer.content : null, context)
    if (answer.kind === 'fault') {
      const outcome = fileFault('edit', path, answer)
      return { ...outcome, text: outcome.text + (await nameHint(path, files)) }
    }
    const file = readTextFile(answer.content)
    if (file.kind === 'binary') return failed(`${path} is ${file.what}; only text files can be edited.`, 'binary')
    if (file.kind === 'lfs-pointer')
      return failed(`${path} is a Git LFS pointer; editing it would break the file it stands for.`, 'lfs pointer')
    const replaced = replaceBytes(answer.content, input.oldString, input.newString, input.replaceAll ?? false)
    if (replaced.kind === 'missing') return failed(missHint(path, file, input.oldString, names), 'no match')
    if (replaced.kind === 'several') {
      const lines = replaced.lines.join(', ')
      return failed(
        `${names.parameter('oldString')} occurs ${replaced.count} times in ${path} (lines ${lines}${replaced.count > replaced.lines.length ? ', …' : ''}); nothing was changed. Add lines around it until it is unique, or set ${names.parameter('replaceAll')}.`,
        `${replaced.count} matches`,
      )
    }
    return save(
      path,
      replaced.content,
      files,
      context,
      `Edited ${path} at ${places(replaced.lines, replaced.count)}`,
      `+${replaced.added} -${replaced.removed}`,
    )
  },
}

/** An empty text to replace means the whole file, but never takes the place of something that is there. */
async function createWhole(input: Input, existing: Uint8Array | null, context: ToolContext): Promise<ToolOutcome> {
  if (existing !== null && existing.byteLength > 0) {
    const { names } = context
    return failed(
      `${input.path} already exists and is not empty; an empty ${names.parameter('oldString')} would overwrite it. Name the text to replace, or use ${names.tool('write')} to replace the whole file.`,
      'exists',
    )
  }
  const content = Buffer.from(input.newString)
  return save(
    input.path,
    content,
    context.files,
    context,
    `${existing === null ? 'Created' : 'Filled'} ${input.path}`,
    `+${input.newString.split('\n').length}`,
  )
}

async function save(
  path: string,
  content: Uint8Array,
  files: FileHost,
  context: ToolContext,
  said: string,
  detail: string,
): Promise<ToolOutcome> {
  const { writeBytesMax, readBytesMax } = context.limits
  const most = Math.max(writeBytesMax, readBytesMax)
  if (content.byteLength > most)
    return failed(`${path} would have ${formatBytes(content.byteLength)}; at most ${formatBytes(most)} can be written.`, 'too large')
  const answer = await files.write(path, content)
  if (answer.kind === 'fault') return fileFault('edit', path, answer)
  const note = await ignoreNote(path, files)
  return ok(`${said} (${detail}).${note}`, detail, { edits: [{ path: workspacePath(path), contentHash: contentHash(content) }] })
}

function places(lines: readonly number[], count: number): string {
  if (count === 1) return `line ${lines[0]}`
  return `${count} places (lines ${lines.join(', ')}${count > lines.length ? ', …' : ''})`
}
