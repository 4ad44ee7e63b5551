import { LineCounter, parseDocument } from 'yaml'
import type { z } from 'zod'

export type ConfigProblem = { line: number; column: number; path: string; message: string }
export type ConfigParsed<T> = { kind: 'parsed'; value: T } | { kind: 'invalid'; problems: ConfigProblem[] }

const configBytesMax = 262_144
const aliasesMax = 20

/** Parses what a person wrote and says where it is wrong: line and column, 1-based, of the smallest part that is. */
export function parseConfig<Schema extends z.ZodType>(schema: Schema, text: string): ConfigParsed<z.infer<Schema>> {
  if (Buffer.byteLength(text) > configBytesMax) {
    return { kind: 'invalid', problems: [{ line: 1, column: 1, path: '', message: `is larger than ${configBytesMax} bytes` }] }
  }
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true })
  if (document.errors.length > 0) {
    const problems = document.errors.map(error => ({
      ...position(lines, error.pos[0]),
      path: '',
      message: error.message.split('\n')[0] ?? error.code,
    }))
    return { kind: 'invalid', problems }
  }
  const parsed = schema.safeParse(document.toJS({ maxAliasCount: aliasesMax }))
  if (parsed.success) return { kind: 'parsed', value: parsed.data }
  const problems = parsed.error.issues.map(issue => {
    const keys = issue.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0] ?? ''] : issue.path
    return { ...position(lines, offsetOf(document, keys)), path: keys.join('.'), message: issue.message }
  })
  return { kind: 'invalid', problems }
}

function position(lines: LineCounter, offset: number) {
  const { line, col } = lines.linePos(offset)
  return { line: Math.max(line, 1), column: Math.max(col, 1) }
}

/** Where the value at `path` begins; for a missing value, where its nearest parent does. */
function offsetOf(document: ReturnType<typeof parseDocument>, path: readonly PropertyKey[]): number {
  for (let depth = path.length; depth > 0; depth--) {
    const node = document.getIn(path.slice(0, depth), true)
    if (hasRange(node)) return node.range[0]
  }
  return document.contents?.range?.[0] ?? 0
}

function hasRange(node: unknown): node is { range: [number, number, number] } {
  return typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)
}
