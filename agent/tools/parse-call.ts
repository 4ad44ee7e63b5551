import { clip } from '../clip.ts'
import type { GateSubject } from '../gate/rows.ts'
import type { SessionLimits } from '../limits.ts'
import { readArguments } from './read-arguments.ts'
import type { Tool } from './tool.ts'
import { workspacePath } from './workspace-path.ts'

export type ParsedCall = {
  kind: 'parsed'
  tool: Tool
  /** Under our names. */
  input: unknown
  /** Under the names the model uses: what hooks see. */
  clientInput: unknown
  subject: GateSubject
  /** What the model is told above the result. */
  notes: readonly string[]
}

export type ParseFailure = { kind: 'unknown-tool' | 'unfit'; reason: string; text: string }

export function parseCall(
  raw: { name: string; arguments: string },
  tools: ReadonlyMap<string, Tool>,
  limits: SessionLimits,
): ParsedCall | ParseFailure {
  const tool = tools.get(raw.name)
  if (!tool) {
    const names = [...tools.keys()].join(', ')
    return {
      kind: 'unknown-tool',
      reason: 'there is no tool of this name',
      text: `Tool not found: ${clip(raw.name, 100)}. The tools are: ${names}.`,
    }
  }
  const read = readArguments(raw.arguments, candidate => tool.parse(candidate).kind === 'fits')
  const parsed = read.kind === 'invalid' ? { kind: 'unfit' as const, issues: read.reason } : tool.parse(read.value)
  if (parsed.kind === 'unfit') {
    const echo = clip(raw.arguments, limits.argumentsEchoBytesMax)
    return {
      kind: 'unfit',
      reason: parsed.issues,
      text: `Invalid arguments for ${tool.name}: ${parsed.issues}\nThe arguments were: ${echo}`,
    }
  }
  const touched = tool.touch(parsed.input)
  const path = touched.writes ?? touched.reads
  return {
    kind: 'parsed',
    tool,
    input: parsed.input,
    clientInput: read.kind === 'invalid' ? null : read.value,
    subject: { name: tool.name, kind: tool.kind, path: path === null || path === 'everything' ? null : workspacePath(path) },
    notes: read.kind === 'salvaged' ? [read.note] : [],
  }
}
