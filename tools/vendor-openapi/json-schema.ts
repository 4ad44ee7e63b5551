/** OpenAPI 3.0's dialect of JSON schema, as plain JSON schema: `nullable` becomes a type, and prose is dropped. */
export type Schema = Record<string, unknown>

/** Where the vendored file keeps what several operations use. */
const componentsAt = 'github#/$defs/'

/** What decides whether a value fits. `default`, `example` and the like say nothing of that. */
const keptAsIs = [
  'type',
  'required',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'pattern',
  'uniqueItems',
]
/** The others, such as `repo.nwo` or `ssh-url`, are nobody's standard. */
const formats = ['date', 'date-time', 'email', 'uri']

export function componentOf(ref: unknown): string | null {
  return typeof ref === 'string' && ref.startsWith(componentsAt) ? ref.slice(componentsAt.length) : null
}

export function jsonSchema(schema: Schema): Schema {
  if (typeof schema.$ref === 'string') return { $ref: schema.$ref.replace('#/components/schemas/', componentsAt) }
  const made: Schema = {}
  for (const key of keptAsIs) if (schema[key] !== undefined) made[key] = schema[key]
  if (formats.includes(String(schema.format))) made.format = schema.format
  if (Array.isArray(schema.enum)) made.enum = [...schema.enum]
  for (const key of ['allOf', 'anyOf', 'oneOf']) {
    const parts = schema[key]
    // Alternatives of the description overlap, such as an object with other optional properties: one that fits is enough.
    if (Array.isArray(parts)) made[key === 'oneOf' ? 'anyOf' : key] = parts.map(jsonSchema)
  }
  for (const key of ['items', 'not', 'additionalProperties']) {
    const part = schema[key]
    if (typeof part === 'object' && part !== null) made[key] = jsonSchema(part as Schema)
    else if (part !== undefined) made[key] = part
  }
  if (typeof schema.properties === 'object' && schema.properties !== null)
    made.properties = Object.fromEntries(Object.entries(schema.properties).map(([name, each]) => [name, jsonSchema(each)]))
  return schema.nullable === true ? nullable(made) : made
}

function nullable(schema: Schema): Schema {
  if (typeof schema.type !== 'string') return Object.keys(schema).length === 0 ? schema : { anyOf: [{ type: 'null' }, schema] }
  const values = Array.isArray(schema.enum) && !schema.enum.includes(null) ? { enum: [...schema.enum, null] } : {}
  return { ...schema, ...values, type: [schema.type, 'null'] }
}
