import { type Document, isMap, isScalar, LineCounter, parseDocument } from 'yaml'
import type * as z from 'zod'

export type ConfigProblem = { line: number; column: number; path: string; message: string }
export type ConfigParsed<T> = { kind: 'parsed'; value: T } | { kind: 'invalid'; problems: ConfigProblem[] }

/** Far above what people write, and small enough that a text made to be slow to read costs a second, not a minute. */
export const configBytesMax = 65_536
const aliasesMax = 20

/** Parses what a person wrote and says where it is wrong: line and column, 1-based, of the smallest part that is. */
export function parseConfig<Schema extends z.ZodType>(schema: Schema, text: string): ConfigParsed<z.infer<Schema>> {
  if (Buffer.byteLength(text) > configBytesMax) return whole(`is larger than ${configBytesMax} bytes`)
  const lines = new LineCounter()
  const read = readYaml(text, lines)
  if (read === null) return whole('is nested too deeply, or repeats a part too often')
  const { document, value } = read
  if (document.errors.length > 0) {
    const problems = document.errors.map(error => ({
      ...position(lines, error.pos[0]),
      path: '',
      message: error.message.split('\n')[0] ?? error.code,
    }))
    return { kind: 'invalid', problems }
  }
  const parsed = schema.safeParse(value)
  if (parsed.success) return { kind: 'parsed', value: parsed.data }
  return { kind: 'invalid', problems: parsed.error.issues.flatMap(issue => problemsOf(issue, document, lines)) }
}

function whole(message: string): { kind: 'invalid'; problems: ConfigProblem[] } {
  return { kind: 'invalid', problems: [{ line: 1, column: 1, path: '', message }] }
}

/** Null: the reader gave up. It throws for an alias bomb, and runs out of stack on a text that is all brackets. */
function readYaml(text: string, lineCounter: LineCounter): { document: Document; value: unknown } | null {
  try {
    const document = parseDocument(text, { lineCounter, uniqueKeys: true })
    return { document, value: document.errors.length > 0 ? null : document.toJS({ maxAliasCount: aliasesMax }) }
  } catch {
    return null
  }
}

/** An unknown key is told at the key itself, and each of them; anything else at its value. */
function problemsOf(issue: z.core.$ZodIssue, document: Document, lines: LineCounter): ConfigProblem[] {
  const { path, message } = issue
  if (issue.code !== 'unrecognized_keys') return [{ ...position(lines, offsetOf(document, path)), path: path.join('.'), message }]
  return issue.keys.map(key => ({
    ...position(lines, keyOffset(document, path, key)),
    path: [...path, key].join('.'),
    message: 'is not a setting',
  }))
}

function position(lines: LineCounter, offset: number) {
  const { line, col } = lines.linePos(offset)
  return { line: Math.max(line, 1), column: Math.max(col, 1) }
}

function keyOffset(document: Document, path: readonly PropertyKey[], key: string): number {
  const parent = path.length === 0 ? document.contents : document.getIn(path, true)
  const pair = isMap(parent) ? parent.items.find(item => isScalar(item.key) && String(item.key.value) === key) : undefined
  return hasRange(pair?.key) ? pair.key.range[0] : offsetOf(document, path)
}

/** Where the value at `path` begins; for a missing value, where its nearest parent does. */
function offsetOf(document: Document, path: readonly PropertyKey[]): number {
  for (let depth = path.length; depth > 0; depth--) {
    const node = document.getIn(path.slice(0, depth), true)
    if (hasRange(node)) return node.range[0]
  }
  return document.contents?.range?.[0] ?? 0
}

function hasRange(node: unknown): node is { range: [number, number, number] } {
  return typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)
}
