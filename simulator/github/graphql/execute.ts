import { checkOperation, fitsValue, type GraphqlError, named } from './check-operation.ts'
import { type Document, type FieldNode, parseDocument, type Selection, type Value } from './parse-document.ts'
import { type Asked, isProblem, type Thing, types } from './types.ts'

export type GraphqlRequest = {
  query: string
  variables?: Record<string, unknown> | null | undefined
  operationName?: string | null | undefined
}
export type GraphqlResult = { data?: Record<string, unknown> | null; errors?: GraphqlError[] }

/** One operation of the document, checked as a whole before anything of it is done. */
export function execute(asked: Asked, { query, variables, operationName }: GraphqlRequest): GraphqlResult {
  const parsed = parseDocument(query)
  if (parsed.kind === 'broken') return { errors: [{ locations: [parsed.place], message: parsed.message }] }
  const { document } = parsed
  const operation = operationName ? document.operations.find(each => each.name === operationName) : document.operations[0]
  if (!operation || (!operationName && document.operations.length > 1)) return { errors: [{ message: 'An operation name is required' }] }
  const wrong = checkOperation(document, operation)
  if (wrong.length > 0) return { errors: wrong }
  const given = { ...variables }
  for (const each of operation.variables) {
    if (given[each.name] === undefined && each.default) given[each.name] = readValue(each.default, {})
    if (!fitsValue(given[each.name], each.type)) return { errors: [badVariable(each, given[each.name])] }
  }
  const errors: GraphqlError[] = []
  const root: Thing = { type: operation.kind === 'query' ? 'Query' : 'Mutation', fields: {} }
  const data = select({ asked, document, variables: given, errors }, root, operation.selections, [])
  return errors.length > 0 ? { data, errors } : { data }
}

function badVariable({ name, type }: { name: string; type: string }, value: unknown): GraphqlError {
  const explanation = value === undefined || value === null ? 'Expected value to not be null' : `Could not coerce value to ${named(type)}`
  return {
    message: `Variable $${name} of type ${type} was provided invalid value`,
    extensions: { value: value ?? null, problems: [{ path: [], explanation }] },
  }
}

type Run = { asked: Asked; document: Document; variables: Record<string, unknown>; errors: GraphqlError[] }
type Path = (string | number)[]

function select(run: Run, thing: Thing, selections: readonly Selection[], path: Path): Record<string, unknown> {
  const result: Record<string, unknown> = {}
  for (const node of selections) {
    if (node.kind === 'field') {
      result[node.alias] = resolveField(run, thing, node, [...path, node.alias])
      continue
    }
    const fragment = node.kind === 'inline' ? node : run.document.fragments.get(node.name)
    // What is of another type has nothing to say here.
    if (fragment && fits(fragment.on, thing)) Object.assign(result, select(run, thing, fragment.selections, path))
  }
  return result
}

const interfaces = ['Node', 'Actor']

function fits(on: string | null, thing: Thing): boolean {
  return on === null || on === thing.type || interfaces.includes(on)
}

function resolveField(run: Run, thing: Thing, node: FieldNode, path: Path): unknown {
  if (node.name === '__typename') return thing.type
  const field = types[thing.type]?.[node.name]
  // Of an interface only what it has itself was checked; the thing that came may know more or less.
  if (!field) return null
  const args = Object.fromEntries([...node.args].map(([name, value]) => [name, readValue(value, run.variables)]))
  const value = field.resolve ? field.resolve(thing, args, run.asked) : thing.fields[node.name]
  if (isProblem(value)) {
    const { line, column } = node
    run.errors.push({ type: value.problem, path, locations: [{ line, column }], message: value.message })
    return null
  }
  return complete(run, value, node, path)
}

function complete(run: Run, value: unknown, node: FieldNode, path: Path): unknown {
  if (Array.isArray(value)) return value.map((each, at) => complete(run, each, node, [...path, at]))
  if (value === null || value === undefined || !node.selections) return value ?? null
  return select(run, value as Thing, node.selections, path)
}

function readValue(value: Value, variables: Record<string, unknown>): unknown {
  switch (value.kind) {
    case 'variable':
      return variables[value.name]
    case 'enum':
      return value.name
    case 'literal':
      return value.value
    case 'list':
      return value.items.map(each => readValue(each, variables))
    case 'object':
      return Object.fromEntries([...value.fields].map(([name, each]) => [name, readValue(each, variables)]))
  }
}
