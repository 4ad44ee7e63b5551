import { reactionWords } from './mutations.ts'
import type { Document, FieldNode, Operation, Selection, Value } from './parse-document.ts'
import { type Field, inputs, types } from './types.ts'

export type GraphqlError = {
  message: string
  type?: string
  path?: (string | number)[]
  locations?: { line: number; column: number }[]
  extensions?: Record<string, unknown>
}

type Check = { document: Document; operation: Operation; errors: GraphqlError[]; used: Set<string> }
type At = { path: string[]; node?: Selection }

/** All that a document asks for and the schema has not, in GitHub's words: one such thing, and nothing is done. */
export function checkOperation(document: Document, operation: Operation): GraphqlError[] {
  const check: Check = { document, operation, errors: [], used: new Set() }
  const start = operation.name === null ? operation.kind : `${operation.kind} ${operation.name}`
  checkSelections(check, operation.kind === 'query' ? 'Query' : 'Mutation', operation.selections, [start])
  const by = operation.name ?? `anonymous ${operation.kind}`
  const at = { path: [start] }
  const declared = operation.variables.map(each => each.name)
  for (const name of declared.filter(each => !check.used.has(each)))
    report(check, 'variableNotUsed', `Variable $${name} is declared by ${by} but not used`, at, { variableName: name })
  for (const name of [...check.used].filter(each => !declared.includes(each)))
    report(check, 'variableNotDefined', `Variable $${name} is used by ${by} but not declared`, at, { variableName: name })
  return check.errors
}

function report({ errors }: Check, code: string, message: string, { path, node }: At, more: object = {}): void {
  const { line, column } = node ?? { line: 1, column: 1 }
  errors.push({ path, extensions: { code, ...more }, locations: [{ line, column }], message })
}

function checkSelections(check: Check, type: string, selections: readonly Selection[], path: string[]): void {
  for (const node of selections) {
    if (node.kind === 'field') {
      checkField(check, type, node, [...path, node.alias])
      continue
    }
    const fragment = node.kind === 'inline' ? node : check.document.fragments.get(node.name)
    const at = { path, node }
    if (!fragment) report(check, 'useAndDefineFragment', 'Fragment was used, but not defined', at)
    else if (fragment.on !== null && !(fragment.on in types))
      report(check, 'undefinedType', `No such type ${fragment.on}, so it can't be a fragment condition`, at, { typeName: fragment.on })
    else checkSelections(check, fragment.on ?? type, fragment.selections, path)
  }
}

function checkField(check: Check, typeName: string, node: FieldNode, path: string[]): void {
  const { name } = node
  if (name === '__typename') return
  const field = types[typeName]?.[name]
  const at = { path, node }
  if (!field) {
    report(check, 'undefinedField', `Field '${name}' doesn't exist on type '${typeName}'`, at, { typeName, fieldName: name })
    return
  }
  checkArguments(check, field, node, path)
  const inner = named(field.type)
  if (inner in types && !node.selections) {
    const hint = `Did you mean '${name} { ... }'?`
    report(check, 'selectionMismatch', `Field must have selections (field '${name}' returns ${inner} but has no selections. ${hint})`, at)
  } else if (!(inner in types) && node.selections) {
    report(check, 'selectionMismatch', `Selections can't be made on scalars (field '${name}' returns ${inner} but has selections)`, at)
  } else if (node.selections) checkSelections(check, inner, node.selections, path)
}

function checkArguments(check: Check, field: Field, node: FieldNode, path: string[]): void {
  const known = field.args ?? {}
  const at = { path, node }
  for (const [name, value] of node.args) {
    const type = known[name]
    if (type !== undefined) checkValue(check, value, { type, name }, at)
    else report(check, 'argumentNotAccepted', `Field '${node.name}' doesn't accept argument '${name}'`, at, { argumentName: name })
  }
  const required = Object.keys(known).filter(name => known[name]?.endsWith('!') && !node.args.has(name))
  if (required.length === 0) return
  const names = required.join(', ')
  report(check, 'missingRequiredArguments', `Field '${node.name}' is missing required arguments: ${names}`, at, { arguments: names })
}

function checkValue(check: Check, value: Value, { type, name }: { type: string; name: string }, at: At & { node: FieldNode }): void {
  if (value.kind === 'variable') {
    check.used.add(value.name)
    const declared = check.operation.variables.find(each => each.name === value.name)
    if (!declared || declared.type === type || declared.type === `${type}!` || (declared.default && `${declared.type}!` === type)) return
    report(check, 'variableMismatch', `Type mismatch on variable $${value.name} and argument ${name} (${declared.type} / ${type})`, at)
    return
  }
  const fields = inputs[named(type)]
  for (const [key, inner] of fields && value.kind === 'object' ? value.fields : []) {
    const kind = fields?.[key]
    if (kind !== undefined) checkValue(check, inner, { type: kind, name: key }, at)
    else report(check, 'argumentNotAccepted', `InputObject '${named(type)}' doesn't accept argument '${key}'`, at, { argumentName: key })
  }
  if (fitsLiteral(value, type)) return
  const message = `Argument '${name}' on Field '${at.node.name}' has an invalid value. Expected type '${type}'.`
  report(check, 'argumentLiteralsIncompatible', message, at)
}

/** The bare name of a type: without what says that it is a list, or never null. */
export function named(type: string): string {
  return type.replaceAll(/[[\]!]/g, '')
}

function fitsLiteral(value: Value, type: string): boolean {
  const bare = named(type)
  if (value.kind === 'object') {
    const fields = inputs[bare]
    return fields !== undefined && Object.entries(fields).every(([name, kind]) => !kind.endsWith('!') || value.fields.has(name))
  }
  if (value.kind === 'enum') return fitsValue(value.name, type)
  return value.kind === 'literal' && (bare in inputs ? false : fitsValue(value.value, type))
}

/** A plain value, as variables bring it. */
export function fitsValue(value: unknown, type: string): boolean {
  if (value === null || value === undefined) return !type.endsWith('!')
  const bare = named(type)
  const fields = inputs[bare]
  if (fields) {
    const given = value as Record<string, unknown>
    if (typeof value !== 'object' || Object.keys(given).some(key => !(key in fields))) return false
    return Object.entries(fields).every(([name, kind]) => fitsValue(given[name], kind))
  }
  if (bare === 'Int') return Number.isInteger(value)
  if (bare === 'Boolean') return typeof value === 'boolean'
  if (bare === 'ReactionContent') return typeof value === 'string' && value in reactionWords
  return typeof value === 'string'
}
