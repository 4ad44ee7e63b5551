import type * as z from 'zod'
import type { SandboxReport } from '../../domain/index.ts'
import type { SessionLimits } from '../limits.ts'
import type { AgentSandbox, FileHost, ToolVerb } from '../ports.ts'
import type { Quote } from '../untrusted.ts'
import type { ToolKind } from './kinds.ts'
import type { TodoList } from './todo.ts'

/** What a call reads and changes of the work tree: a path relative to the workspace, all of it, or nothing. */
export type Touch = { reads: string | 'everything' | null; writes: string | 'everything' | null }

/** One of the few things an agent can do. A family gives it the names a model knows it by. */
export type Primitive<Input = never> = {
  kind: ToolKind
  verb: ToolVerb
  /** True: a call that was cut off may simply be made again. */
  readOnly: boolean
  /** True: it changes only what the session keeps in memory, so a recorded call is made again on resume, for that memory. */
  inMemory?: boolean
  /** Under our own names for the parameters; the family renames them for the model. */
  input: z.ZodType<Input>
  touch(input: Input): Touch
  /** One short line for people: a path, a command. */
  label(input: Input): string
  /** The canonical projection of the input; a field that does not fit is left out. */
  project(input: Input): MetaInput | undefined
  run(input: Input, context: ToolContext): Promise<ToolOutcome>
}

/** The eight fields every reader of a receipt may rely on. */
export type MetaInput = {
  path?: string
  offset?: number
  limit?: number
  command?: string
  description?: string
  cwd?: string
  directory?: string
  pattern?: string
}

export type ToolContext = {
  files: FileHost
  sandbox: AgentSandbox
  todos: TodoList
  limits: SessionLimits
  signal: AbortSignal
  /** Wraps foreign text so that it can not pass for ours. */
  quote: Quote
  /** What the model calls a parameter of this tool, and the tool that runs commands, for texts. */
  names: { parameter(canonical: string): string; tool(primitive: string): string }
  /** Milliseconds until the session must be over. */
  timeLeftMs(): number
}

export type ToolOutcome = {
  status: 'ok' | 'error' | 'cancelled'
  /** Exactly what the model is shown. */
  text: string
  /** For the live view: `+9 -2`, `18 KB`, `exit 1`. */
  detail: string
  exitCode?: number | null
  /** Of the whole output, when `text` shows less of it. */
  output?: { bytes: number; hash: string }
  sandbox?: SandboxReport
  edits?: readonly { path: string; contentHash: string }[]
}

/** A primitive under a family's names, ready to be offered to a model. */
export type Tool = {
  name: string
  /** Which primitive it is. */
  primitive: string
  namespace: string
  kind: ToolKind
  verb: ToolVerb
  readOnly: boolean
  inMemory: boolean
  description: string
  /** JSON schema of the arguments under the names the model uses. */
  parameters: unknown
  parse(clientInput: unknown): { kind: 'fits'; input: unknown } | { kind: 'unfit'; issues: string }
  touch(input: unknown): Touch
  label(input: unknown): string
  project(input: unknown): MetaInput | undefined
  run(input: unknown, context: ToolContext): Promise<ToolOutcome>
}
