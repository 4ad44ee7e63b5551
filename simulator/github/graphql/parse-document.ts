/** GraphQL's query language without directives, subscriptions and block strings: nobody who asks this fake needs more. */
export type Document = { operations: Operation[]; fragments: Map<string, Fragment> }
export type Operation = { kind: 'query' | 'mutation'; name: string | null; variables: Variable[]; selections: Selection[] }
type Variable = { name: string; type: string; default: Value | null }
type Fragment = { on: string; selections: Selection[] }
type Place = { line: number; column: number }
export type FieldNode = Place & { kind: 'field'; alias: string; name: string; args: Map<string, Value>; selections: Selection[] | null }
export type Selection =
  | FieldNode
  | (Place & ({ kind: 'inline'; on: string | null; selections: Selection[] } | { kind: 'spread'; name: string }))
export type Value =
  | { kind: 'variable'; name: string }
  | { kind: 'enum'; name: string }
  | { kind: 'literal'; value: string | number | boolean | null }
  | { kind: 'list'; items: Value[] }
  | { kind: 'object'; fields: Map<string, Value> }

export type Parsed = { kind: 'document'; document: Document } | { kind: 'broken'; message: string; place: Place }

type Token = Place & { type: 'name' | 'sign' | 'number' | 'string' | 'end'; text: string }

/** A document that does not parse; caught by `parseDocument` and nowhere else. */
class SyntaxProblem extends Error {
  readonly token: Token
  constructor(token: Token) {
    super(
      token.text === '' ? 'Unexpected end of document' : `Parse error on ${JSON.stringify(token.text)} at [${token.line}, ${token.column}]`,
    )
    this.token = token
  }
}

export function parseDocument(text: string): Parsed {
  try {
    return { kind: 'document', document: readDocument(createReader(tokenize(text))) }
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error
    return { kind: 'broken', message: error.message, place: { line: error.token.line, column: error.token.column } }
  }
}

const pattern =
  /[\s,\uFEFF]+|#[^\n]*|(?<sign>\.\.\.|[{}()[\]:=!$])|(?<name>[_A-Za-z]\w*)|(?<number>-?\d+(?:\.\d+)?)|(?<string>"(?:[^"\\\n]|\\.)*")/y

function tokenize(text: string): Token[] {
  const tokens: Token[] = []
  let [line, lineStart] = [1, 0]
  pattern.lastIndex = 0
  for (let at = 0; at < text.length; at = pattern.lastIndex) {
    const found = pattern.exec(text)
    const place = { line, column: at - lineStart + 1 }
    if (!found) throw new SyntaxProblem({ type: 'sign', text: text[at] ?? '', ...place })
    for (const [type, value] of Object.entries(found.groups ?? {})) {
      if (value !== undefined) tokens.push({ type: type as Token['type'], text: value, ...place })
    }
    const breaks = found[0].split('\n')
    if (breaks.length > 1) {
      line += breaks.length - 1
      lineStart = pattern.lastIndex - (breaks.at(-1)?.length ?? 0)
    }
  }
  return [...tokens, { type: 'end', text: '', line, column: text.length - lineStart + 1 }]
}

type Reader = ReturnType<typeof createReader>

function createReader(tokens: readonly Token[]) {
  let at = 0
  const end = tokens.at(-1) as Token
  const peek = (): Token => tokens[at] ?? end
  const next = (): Token => tokens[at++] ?? end
  const is = (text: string): boolean => peek().text === text && peek().type !== 'string'
  const fail = (): never => {
    throw new SyntaxProblem(peek())
  }
  const take = (text: string): Token => (is(text) ? next() : fail())
  const name = (): string => (peek().type === 'name' ? next().text : fail())
  /** Goes on if the next one is this. */
  const skip = (text: string): boolean => is(text) && Boolean(next())
  function many<T>(open: string, close: string, one: (reader: Reader) => T): T[] {
    const items: T[] = []
    take(open)
    while (!is(close)) items.push(one(reader))
    take(close)
    return items
  }
  const reader = { peek, next, is, fail, take, name, skip, many }
  return reader
}

function readDocument(reader: Reader): Document {
  const operations: Operation[] = []
  const fragments = new Map<string, Fragment>()
  while (reader.peek().type !== 'end') {
    if (!reader.skip('fragment')) {
      operations.push(readOperation(reader))
      continue
    }
    const named = reader.name()
    reader.take('on')
    fragments.set(named, { on: reader.name(), selections: readSelections(reader) })
  }
  return operations.length > 0 ? { operations, fragments } : reader.fail()
}

function readOperation(reader: Reader): Operation {
  if (reader.is('{')) return { kind: 'query', name: null, variables: [], selections: readSelections(reader) }
  const kind = reader.is('query') ? 'query' : reader.is('mutation') ? 'mutation' : reader.fail()
  reader.next()
  const named = reader.peek().type === 'name' ? reader.name() : null
  const variables = reader.is('(') ? reader.many('(', ')', readVariable) : []
  return { kind, name: named, variables, selections: readSelections(reader) }
}

function readVariable(reader: Reader): Variable {
  reader.take('$')
  const named = reader.name()
  reader.take(':')
  return { name: named, type: readType(reader), default: reader.skip('=') ? readValue(reader) : null }
}

function readType(reader: Reader): string {
  const inner = reader.is('[') ? `[${reader.many('[', ']', readType).join()}]` : reader.name()
  return reader.skip('!') ? `${inner}!` : inner
}

function readSelections(reader: Reader): Selection[] {
  const found = reader.many('{', '}', readSelection)
  return found.length > 0 ? found : reader.fail()
}

function readSelection(reader: Reader): Selection {
  const { line, column } = reader.peek()
  const place = { line, column }
  if (!reader.skip('...')) return { kind: 'field', ...place, ...readField(reader) }
  if (reader.is('{')) return { kind: 'inline', on: null, selections: readSelections(reader), ...place }
  if (!reader.skip('on')) return { kind: 'spread', name: reader.name(), ...place }
  return { kind: 'inline', on: reader.name(), selections: readSelections(reader), ...place }
}

function readField(reader: Reader): Omit<FieldNode, 'kind' | 'line' | 'column'> {
  const alias = reader.name()
  const named = reader.skip(':') ? reader.name() : alias
  const args = new Map(reader.is('(') ? reader.many('(', ')', readPair) : [])
  return { alias, name: named, args, selections: reader.is('{') ? readSelections(reader) : null }
}

function readPair(reader: Reader): [string, Value] {
  const named = reader.name()
  reader.take(':')
  return [named, readValue(reader)]
}

const words: Record<string, boolean | null> = { true: true, false: false, null: null }

function readValue(reader: Reader): Value {
  if (reader.skip('$')) return { kind: 'variable', name: reader.name() }
  if (reader.is('[')) return { kind: 'list', items: reader.many('[', ']', readValue) }
  if (reader.is('{')) return { kind: 'object', fields: new Map(reader.many('{', '}', readPair)) }
  const { type, text } = reader.peek()
  if (type === 'sign' || type === 'end') return reader.fail()
  reader.next()
  if (type === 'number') return { kind: 'literal', value: Number(text) }
  if (type === 'string') return { kind: 'literal', value: JSON.parse(text) as string }
  return text in words ? { kind: 'literal', value: words[text] ?? null } : { kind: 'enum', name: text }
}
