import type { Prompts } from '../prompt.ts'
import { clientSchema } from './client-schema.ts'
import { grep } from './grep.ts'
import { list } from './list.ts'
import { read } from './read.ts'
import { replace } from './replace.ts'
import { run } from './run.ts'
import { todo } from './todo.ts'
import type { Primitive, Tool } from './tool.ts'
import { toolNames } from './tool-names.ts'
import { write } from './write.ts'

const primitives = {
  read: erased(read),
  replace: erased(replace),
  write: erased(write),
  list: erased(list),
  grep: erased(grep),
  run: erased(run),
  todo: erased(todo),
}
type PrimitiveName = keyof typeof primitives

/** Forgets the type of the input. Safe as long as every input comes out of the primitive's own schema, which `parse` sees to. */
function erased<Input>(primitive: Primitive<Input>): Primitive<unknown> {
  return primitive as unknown as Primitive<unknown>
}

type FamilyRow = {
  client: string
  primitive: PrimitiveName
  /** Our name → the name the model uses, where they differ. */
  parameters: { [canonical: string]: string }
  /** File below `prompts/tools/`. */
  description: string
}

/** A family is data: what models of one kind know the primitives by. A new one touches no code of a tool. */
const families = {
  grok_build: [
    { client: 'read_file', primitive: 'read', parameters: { path: 'target_file' }, description: 'read' },
    {
      client: 'search_replace',
      primitive: 'replace',
      parameters: { path: 'file_path', oldString: 'old_string', newString: 'new_string', replaceAll: 'replace_all' },
      description: 'replace',
    },
    { client: 'write', primitive: 'write', parameters: { path: 'file_path' }, description: 'write' },
    { client: 'list_dir', primitive: 'list', parameters: { path: 'target_directory' }, description: 'list' },
    {
      client: 'grep',
      primitive: 'grep',
      parameters: { before: '-B', after: '-A', context: '-C', ignoreCase: '-i', headLimit: 'head_limit', outputMode: 'output_mode' },
      description: 'grep',
    },
    { client: 'run_terminal_command', primitive: 'run', parameters: {}, description: 'run' },
    { client: 'todo_write', primitive: 'todo', parameters: {}, description: 'todo' },
  ],
} as const satisfies { [family: string]: readonly FamilyRow[] }

export type FamilyName = keyof typeof families

/** The tools of a family, in the order the model is shown them. */
export function openFamily(family: FamilyName, prompts: Prompts): Map<string, Tool> {
  const rows: readonly FamilyRow[] = families[family]
  const clientNames = new Map<string, string>(rows.map(row => [row.primitive, row.client]))
  return new Map(rows.map(row => [row.client, openTool(family, row, clientNames, prompts)]))
}

function openTool(family: string, row: FamilyRow, clientNames: ReadonlyMap<string, string>, prompts: Prompts): Tool {
  const primitive = primitives[row.primitive]
  const toClient = (canonical: string) => row.parameters[canonical] ?? canonical
  const toCanonical = new Map(Object.entries(row.parameters).map(([canonical, client]) => [client, canonical]))
  return {
    name: row.client,
    primitive: row.primitive,
    namespace: family,
    kind: primitive.kind,
    verb: primitive.verb,
    readOnly: primitive.readOnly,
    inMemory: primitive.inMemory ?? false,
    description: prompts.render(`tools/${row.description}`, toolNames(prompts, `tools/${row.description}`, clientNames)),
    parameters: clientSchema(primitive.input, toClient),
    parse(clientInput) {
      const renamed = renameKeys(clientInput, toCanonical)
      const parsed = primitive.input.safeParse(renamed)
      if (parsed.success) return { kind: 'fits', input: parsed.data }
      const issues = parsed.error.issues.map(
        issue =>
          `${toClient(String(issue.path[0] ?? ''))}${issue.path.length > 1 ? `.${issue.path.slice(1).join('.')}` : ''}: ${issue.message}`,
      )
      return { kind: 'unfit', issues: issues.join('; ') }
    },
    touch: input => primitive.touch(input),
    label: input => primitive.label(input),
    project: input => primitive.project(input),
    run: (input, context) =>
      primitive.run(input, { ...context, names: { parameter: toClient, tool: name => clientNames.get(name) ?? name } }),
  }
}

function renameKeys(value: unknown, toCanonical: ReadonlyMap<string, string>): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [toCanonical.get(key) ?? key, entry]))
}
