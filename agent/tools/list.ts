import { posix } from 'node:path'
import * as z from 'zod'
import { drawTree } from './draw-tree.ts'
import { isIgnored } from './ignored.ts'
import { failed, fileFault, ok } from './outcome.ts'
import { nameHint } from './similar-names.ts'
import type { Primitive, ToolContext, ToolOutcome } from './tool.ts'

const Input = z.object({ path: z.string().min(1).describe('The folder, relative to the workspace or absolute.') })
type Input = z.infer<typeof Input>

export const list: Primitive<Input> = {
  kind: 'list',
  verb: 'list',
  readOnly: true,
  input: Input,
  touch: () => ({ reads: 'everything', writes: null }),
  label: input => input.path,
  project: input => ({ directory: input.path }),
  async run(input, context) {
    const { files, limits } = context
    const top = await files.list(input.path, limits.listEntriesMax)
    if (top.kind === 'fault') return listFault(input, top, context)
    const walked = await files.walk(input.path, limits.listEntriesMax)
    if (walked.kind === 'fault') return fileFault('list', input.path, walked)
    const known = new Set(walked.paths.map(path => path.split('/')[0]))
    const others: string[] = []
    // A walk sees files; empty folders and links at the top are only in the folder itself.
    for (const entry of top.entries) {
      if (known.has(entry.name) || isHidden(entry.name) || (entry.type !== 'dir' && entry.type !== 'link')) continue
      const name = entry.type === 'dir' ? `${entry.name}/` : entry.name
      if (!(await isIgnored(posix.join(input.path, name), files))) others.push(entry.type === 'dir' ? name : `${name} (link)`)
    }
    const paths = walked.paths.filter(path => !path.split('/').some(isHidden))
    const drawn = drawTree(paths, others, limits.listCharsMax)
    const cut = walked.more || top.more ? `\n[only the first ${limits.listEntriesMax} entries were looked at]` : ''
    return ok(`- ${input.path.replace(/\/+$/, '') || '/'}/\n${context.quote(`folder ${input.path}`, drawn)}${cut}`, `${paths.length} files`)
  },
}

function isHidden(name: string): boolean {
  return name.startsWith('.')
}

async function listFault(input: Input, fault: Parameters<typeof fileFault>[2], context: ToolContext): Promise<ToolOutcome> {
  if (fault.code === 'not-a-directory')
    return failed(`${input.path} is not a folder; show a file with ${context.names.tool('read')}.`, fault.code)
  const outcome = fileFault('list', input.path, fault)
  return fault.code === 'not-found' ? { ...outcome, text: outcome.text + (await nameHint(input.path, context.files)) } : outcome
}
