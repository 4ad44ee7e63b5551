import * as z from 'zod'
import { ignoreNote } from './ignored.ts'
import { changedLines, countLines, linesOf } from './line-counts.ts'
import { contentHash, failed, fileFault, formatBytes, ok } from './outcome.ts'
import { readTextFile } from './text-file.ts'
import type { Primitive } from './tool.ts'
import { workspacePath } from './workspace-path.ts'

const Input = z.object({
  path: z.string().min(1).describe('The file, relative to the workspace or absolute.'),
  content: z.string().describe('The whole new content.'),
})
type Input = z.infer<typeof Input>

export const write: Primitive<Input> = {
  kind: 'write',
  verb: 'write',
  readOnly: false,
  input: Input,
  touch: input => ({ reads: null, writes: input.path }),
  label: input => input.path,
  project: input => ({ path: input.path }),
  async run(input, context) {
    const content = Buffer.from(input.content)
    if (content.byteLength > context.limits.writeBytesMax) {
      return failed(
        `The content has ${formatBytes(content.byteLength)}; at most ${formatBytes(context.limits.writeBytesMax)} can be written at once.`,
        'too large',
      )
    }
    const before = await context.files.read(input.path, context.limits.readBytesMax)
    if (before.kind === 'read' && readTextFile(before.content).kind === 'lfs-pointer') {
      return failed(`${input.path} is a Git LFS pointer; writing text over it would break the file it stands for.`, 'lfs pointer')
    }
    const answer = await context.files.write(input.path, content)
    if (answer.kind === 'fault') return fileFault('write', input.path, answer)
    const lines = countLines(content)
    const edits = [{ path: workspacePath(input.path), contentHash: contentHash(content) }]
    const detail = before.kind === 'read' ? signed(changedLines(linesOf(before.content), linesOf(content))) : `+${lines}`
    const what = answer.created ? 'Created' : 'Replaced the content of'
    const note = await ignoreNote(input.path, context.files)
    return ok(`${what} ${input.path} (${lines} lines, ${formatBytes(content.byteLength)}).${note}`, detail, { edits })
  },
}

function signed({ added, removed }: { added: number; removed: number }): string {
  return `+${added} -${removed}`
}
