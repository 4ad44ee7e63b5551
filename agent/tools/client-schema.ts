import * as z from 'zod'

type Schema = { [keyword: string]: unknown }

/** The JSON schema of a tool's arguments as a model is shown it: the family's names, and nothing that says nothing. */
export function clientSchema(input: z.ZodType<unknown>, toClient: (canonical: string) => string): Schema {
  const schema = z.toJSONSchema(input, { io: 'output', target: 'draft-07' }) as Schema
  const properties = Object.entries(schema.properties as { [name: string]: Schema }).filter(([, value]) => value.hidden !== true)
  const shown = new Set(properties.map(([name]) => name))
  return {
    type: 'object',
    properties: Object.fromEntries(properties.map(([name, value]) => [toClient(name), plain(value)])),
    required: ((schema.required ?? []) as string[]).filter(name => shown.has(name)).map(toClient),
  }
}

const kept = ['type', 'description', 'enum', 'items', 'properties', 'required', 'minimum', 'maximum']

/** zod writes the bounds of a safe integer into every int, and what a validator needs; both only cost a model bytes. */
function plain(schema: Schema): Schema {
  const entries = Object.entries(schema).filter(
    ([keyword, value]) => kept.includes(keyword) && Math.abs(Number(value)) !== Number.MAX_SAFE_INTEGER,
  )
  return Object.fromEntries(entries.map(([keyword, value]) => [keyword, inner(keyword, value)]))
}

function inner(keyword: string, value: unknown): unknown {
  if (keyword === 'items') return plain(value as Schema)
  if (keyword !== 'properties') return value
  return Object.fromEntries(Object.entries(value as { [name: string]: Schema }).map(([name, schema]) => [name, plain(schema)]))
}
