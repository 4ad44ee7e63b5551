import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import * as z from 'zod'
import { routes } from '../simulator/github/routes/index.ts'
import { printedUsage, wrongUsage } from './usage.ts'
import { componentOf, jsonSchema, type Schema } from './vendor-openapi/json-schema.ts'

/** Of GitHub's published description, what the tests hold the fake GitHub to: the operations of its route table and no more. */
const usage = [
  'usage: node tools/vendor-openapi.ts FOLDER',
  "  FOLDER: where `npm install --prefix FOLDER @octokit/openapi@VERSION` was run; 385 MB, so never in this project's own",
].join('\n')

const out = path.resolve(import.meta.dirname, '../test/simulator/fixtures/openapi')

const Package = z.object({ name: z.literal('@octokit/openapi'), version: z.string(), license: z.string() })
const Found = z.record(z.string(), z.unknown())
const Parameter = z.object({ name: z.string(), in: z.string(), required: z.boolean().default(false), schema: Found })
const Body = z.object({ required: z.boolean().default(false), content: z.record(z.string(), z.object({ schema: Found.optional() })) })
const Operation = z.object({
  operationId: z.string(),
  parameters: z.array(Found).default([]),
  requestBody: Body.optional(),
  responses: z.record(z.string(), Found),
})
const Description = z.object({
  openapi: z.string(),
  paths: z.record(z.string(), z.record(z.string(), z.unknown())),
  components: z.record(z.string(), z.record(z.string(), Found)),
})
type Description = z.infer<typeof Description>

if (!printedUsage(usage)) {
  const folder = parseArgs({ allowPositionals: true }).positionals[0]
  if (folder === undefined) wrongUsage('the folder is missing', usage)
  else vendor(path.resolve(folder, 'node_modules/@octokit/openapi'))
}

function vendor(folder: string): void {
  const { name, version, license } = Package.parse(readJson(path.join(folder, 'package.json')))
  const description = Description.parse(readJson(path.join(folder, 'generated/api.github.com.json')))
  const operations = describeRoutes(description)
  const components = usedComponents(description, operations)
  mkdirSync(out, { recursive: true })
  const source = { package: name, version, license, file: 'generated/api.github.com.json', openapi: description.openapi }
  writeFileSync(path.join(out, 'operations.json'), oneLineEach({ source, operations, components }))
  copyFileSync(path.join(folder, 'LICENSE'), path.join(out, 'LICENSE'))
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** By row, such as `GET /repos/{owner}/{repo}`. A row GitHub does not describe is left out, and the tests say why it may be. */
function describeRoutes(description: Description): Record<string, unknown> {
  const paths = new Map(Object.keys(description.paths).map(each => [shapeOf(each), each]))
  const rows: Record<string, unknown> = {}
  for (const { method, path: row } of routes) {
    const found = paths.get(shapeOf(row))
    const operation = found === undefined ? undefined : description.paths[found]?.[method.toLowerCase()]
    if (operation !== undefined) rows[`${method} ${row}`] = describe(description, found ?? row, operation)
  }
  return rows
}

/** Parameters are told apart by their place: the fake names some by what it looks up. */
function shapeOf(row: string): string {
  return row.replace(/\{\w+\+?\}/g, '{}')
}

function describe(description: Description, name: string, value: unknown) {
  const { operationId, parameters, requestBody, responses } = Operation.parse(value)
  const all = parameters.map(each => Parameter.parse(resolve(description, each)))
  const inPath = [...name.matchAll(/\{(\w+)\}/g)].map(([, each]) => all.find(one => one.in === 'path' && one.name === each))
  const body = requestBody?.content['application/json']?.schema
  return {
    operationId,
    // In the order of the path: the fake names some of them by what it looks up.
    path: parametersSchema(inPath.filter(each => each !== undefined)),
    query: parametersSchema(all.filter(each => each.in === 'query')),
    body: body && requestBody ? { required: requestBody.required, schema: jsonSchema(body) } : null,
    responses: Object.fromEntries(Object.entries(responses).map(([status, each]) => [status, answerOf(description, each)])),
  }
}

function parametersSchema(parameters: z.infer<typeof Parameter>[]): Schema {
  const properties = Object.fromEntries(parameters.map(each => [each.name, jsonSchema(each.schema)]))
  const required = parameters.filter(each => each.required).map(each => each.name)
  return { type: 'object', properties, required, additionalProperties: false }
}

/** Null: described without a JSON body. */
function answerOf(description: Description, response: Schema): Schema | null {
  const { content } = z.object({ content: Body.shape.content.optional() }).parse(resolve(description, response))
  const schema = content?.['application/json']?.schema
  return schema ? jsonSchema(schema) : null
}

function resolve({ components }: Description, value: Schema): Schema {
  const [, kind, name] = /^#\/components\/(\w+)\/(.+)$/.exec(String(value.$ref)) ?? []
  if (kind === undefined || name === undefined) return value
  const found = components[kind]?.[name]
  if (!found) throw new Error(`${value.$ref} is not in the description`)
  return found
}

function usedComponents({ components }: Description, operations: unknown): Record<string, Schema> {
  const used = new Map<string, Schema>()
  const follow = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const name = componentOf((value as Schema).$ref)
    if (name !== null && !used.has(name)) {
      const schema = components.schemas?.[name]
      if (!schema) throw new Error(`the schema ${name} is not in the description`)
      const made = jsonSchema(schema)
      used.set(name, made)
      follow(made)
    }
    for (const each of Object.values(value)) follow(each)
  }
  follow(operations)
  return Object.fromEntries([...used].sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** Each operation and component in a line of its own, so that a new version shows what changed. */
function oneLineEach({ source, operations, components }: Record<string, object>): string {
  const lines = (part: object = {}) => Object.entries(part).map(([name, each]) => `  ${JSON.stringify(name)}: ${JSON.stringify(each)}`)
  const part = (name: string, value: object = {}) => `"${name}": {\n${lines(value).join(',\n')}\n}`
  return `{\n"source": ${JSON.stringify(source)},\n${part('operations', operations)},\n${part('components', components)}\n}\n`
}
