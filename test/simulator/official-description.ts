import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { Exchange } from '../../simulator/github/observe.ts'
import { deviations, everywhere, rowsWithout, unpublishedFields } from './official-exceptions.ts'

type Schema = Record<string, unknown>
type Operation = {
  operationId: string
  path: Schema & { properties: object }
  query: Schema
  body: { required: boolean; schema: Schema } | null
  /** Null: described without a JSON body. */
  responses: Record<string, Schema | null>
}
type Description = { operations: Record<string, Operation>; components: Record<string, Schema> }

export type Finding = { row: string; part: 'row' | 'path' | 'query' | 'body' | 'status' | 'answer'; status: number; errors: string[] }

const file = path.join(import.meta.dirname, 'fixtures/openapi/operations.json')
const { operations, components } = JSON.parse(readFileSync(file, 'utf8')) as Description
// GitHub ignores what it does not know: a misspelt name would be lost without a word.
for (const { body } of Object.values(operations)) if (body) body.schema = { allOf: [body.schema], unevaluatedProperties: false }
const github = { $id: 'github', $defs: components }

/** Parameters are text on the wire; a body's types are its own. */
const [bodies, parameters] = [createAjv(false), createAjv(true)]

function createAjv(coerceTypes: boolean): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, allErrors: true, coerceTypes })
  addFormats.default(ajv)
  return ajv.addSchema(github)
}

const compiled = new Map<Schema, ValidateFunction>()

function errorsOf(ajv: Ajv2020, schema: Schema, value: unknown): string[] {
  const validate = compiled.get(schema) ?? ajv.compile(schema)
  compiled.set(schema, validate)
  return validate(value) ? [] : [...new Set((validate.errors ?? []).map(describe))]
}

function describe({ instancePath, keyword, message, params }: ErrorObject): string {
  const property = params.unevaluatedProperty ?? params.additionalProperty
  // An index in a list says nothing of the shape.
  const at = instancePath.replace(/\/\d+(?=\/|$)/g, '/*')
  return property === undefined
    ? `${at} ${keyword === 'enum' ? `must be one of ${params.allowedValues}` : message}`
    : `${at}/${property} is not described`
}

export function describedRows(): string[] {
  return Object.keys(operations)
}

/** What of a request GitHub's published description does not allow. */
export function requestFindings(exchange: Exchange): Finding[] {
  const { row, operation } = find(exchange)
  if (!operation) return unknownRow(exchange)
  const { params, query, body, status } = exchange
  const made = (part: Finding['part'], errors: string[]) => ({ row, part, status, errors })
  return reported([
    made('path', errorsOf(parameters, operation.path, named(operation, params))),
    made('query', errorsOf(parameters, operation.query, Object.fromEntries(query))),
    made('body', bodyErrors(operation, body)),
  ])
}

/** By place: the fake names some parameters by what it looks up. */
function named({ path: { properties } }: Operation, params: Record<string, string>): Record<string, string | undefined> {
  const values = Object.values(params)
  return Object.fromEntries(Object.keys(properties).map((name, index) => [name, values[index] ?? '']))
}

function bodyErrors({ body: described }: Operation, body: unknown): string[] {
  if (body === undefined) return described?.required ? ['the body is missing'] : []
  if (!described) return typeof body === 'object' && body !== null && Object.keys(body).length === 0 ? [] : ['no body is described']
  return errorsOf(bodies, described.schema, body)
}

/** What of an answer is not as described. */
export function answerFindings(exchange: Exchange): Finding[] {
  const { row, operation } = find(exchange)
  if (!operation) return unknownRow(exchange)
  const { status, answer } = exchange
  const own = operation.responses[status]
  // Some refusals are described by their status alone.
  const schema = own === undefined || (own === null && status >= 400) ? everywhere[status] : own
  if (schema === undefined) return reported([{ row, part: 'status', status, errors: [`${status} is not described`] }])
  // Another media type, such as a diff: no description says more of it than that it is text.
  if (answer.kind === 'text') return []
  const value = answer.kind === 'json' ? answer.value : undefined
  const errors = schema === null ? (value === undefined ? [] : ['no body is described']) : errorsOf(bodies, schema, value)
  return reported([{ row, part: 'answer', status, errors }])
}

/** Fields of an answer that the description does not know: a product that reads them finds nothing on GitHub. */
export function inventedFields(exchange: Exchange): string[] {
  const { operation } = find(exchange)
  const schema = operation?.responses[exchange.status]
  return schema && exchange.answer.kind === 'json' ? [...new Set(invented([schema], exchange.answer.value, ''))] : []
}

function invented(schemas: readonly Schema[], value: unknown, at: string): string[] {
  const parts = schemas.flatMap(flatten)
  if (Array.isArray(value)) {
    const items = parts.flatMap(each => (each.items === undefined ? [] : [each.items as Schema]))
    return value.flatMap(each => invented(items, each, `${at}/*`))
  }
  if (typeof value !== 'object' || value === null || parts.every(each => each.properties === undefined)) return []
  const isOpen = parts.some(each => typeof each.additionalProperties === 'object' || each.additionalProperties === true)
  return Object.entries(value).flatMap(([name, each]) => {
    const described = parts.flatMap(part => {
      const property = (part.properties as Record<string, Schema> | undefined)?.[name]
      return property === undefined ? [] : [property]
    })
    if (described.length > 0) return invented(described, each, `${at}/${name}`)
    return isOpen || unpublishedFields.some(known => known.field.test(`${at}/${name}`)) ? [] : [`${at}/${name}`]
  })
}

function flatten(schema: Schema): Schema[] {
  if (typeof schema.$ref === 'string') return flatten(components[schema.$ref.slice('github#/$defs/'.length)] ?? {})
  const inner = [schema.allOf, schema.anyOf].flatMap(each => (Array.isArray(each) ? (each as Schema[]) : []))
  return [schema, ...inner.flatMap(flatten)]
}

function find({ method, path: rowPath }: Exchange): { row: string; operation: Operation | undefined } {
  const row = `${method} ${rowPath}`
  return { row, operation: operations[rowsWithout[row]?.as ?? row] }
}

function unknownRow({ method, path: rowPath, status }: Exchange): Finding[] {
  const row = `${method} ${rowPath}`
  return row in rowsWithout ? [] : [{ row, part: 'row', status, errors: ['GitHub describes no such operation'] }]
}

function reported(findings: Finding[]): Finding[] {
  return findings
    .map(each => ({ ...each, errors: each.errors.filter(error => !isExcepted(each, error)) }))
    .filter(({ errors }) => errors.length > 0)
}

/** An exception nothing needs any more would hide the next mistake. */
export const metDeviations = new Set<(typeof deviations)[number]>()

function isExcepted({ row, part }: Finding, error: string): boolean {
  const found = deviations.find(each => each.part === part && each.row.test(row) && each.error.test(error))
  if (found) metDeviations.add(found)
  return found !== undefined
}

/** What of a fake's exchange is not GitHub's: an answer that is not as described, or a request it should have refused. */
export function exchangeFindings(exchange: Exchange): Finding[] {
  return [...(exchange.status < 300 ? requestFindings(exchange) : []), ...answerFindings(exchange)]
}
