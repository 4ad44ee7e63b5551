const types = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])
/** Depth at which a tool's schema is refused, in levels. */
const depthMax = 12

/** What is wrong with a tool's parameter schema, or null. The root must be an object schema; below it the keywords tools use are checked. */
export function schemaFault(schema: Record<string, unknown>): string | null {
  if (schema.type !== 'object')
    return `schema must be a JSON Schema of 'type: "object"', got 'type: ${JSON.stringify(schema.type ?? null)}'`
  return faultAt(schema, '$', 0)
}

function faultAt(schema: unknown, at: string, depth: number): string | null {
  if (typeof schema === 'boolean') return null
  if (!isRecord(schema)) return `${at} is not a schema`
  if (depth > depthMax) return `${at} is nested deeper than ${depthMax} levels`
  return typeFault(schema, at) ?? objectFault(schema, at, depth) ?? partsFault(schema, at, depth)
}

function typeFault(schema: Record<string, unknown>, at: string): string | null {
  const { type } = schema
  if (type === undefined) return null
  const all = Array.isArray(type) ? type : [type]
  const wrong = all.find(each => !types.has(String(each)))
  if (all.length === 0 || wrong !== undefined) return `${JSON.stringify(wrong ?? type)} is not a type (${at})`
  return type === 'array' && schema.items === undefined ? `array schema missing items (${at})` : null
}

function objectFault(schema: Record<string, unknown>, at: string, depth: number): string | null {
  const { properties, required } = schema
  if (properties !== undefined && !isRecord(properties)) return `properties of ${at} is not an object`
  const names = Object.keys((properties as Record<string, unknown> | undefined) ?? {})
  if (required !== undefined) {
    if (!Array.isArray(required) || new Set(required).size !== required.length) return `required of ${at} is not a list of distinct names`
    const missing = required.find(name => !names.includes(String(name)))
    if (missing !== undefined) return `required property ${JSON.stringify(missing)} of ${at} is not in properties`
  }
  for (const name of names) {
    const fault = faultAt((properties as Record<string, unknown>)[name], `${at}.${name}`, depth + 1)
    if (fault) return fault
  }
  return null
}

function partsFault(schema: Record<string, unknown>, at: string, depth: number): string | null {
  const { items, additionalProperties, enum: values } = schema
  if (values !== undefined && (!Array.isArray(values) || values.length === 0)) return `enum of ${at} is not a list`
  const single = items === undefined ? null : faultAt(items, `${at}[]`, depth + 1)
  if (single) return single
  if (additionalProperties !== undefined && faultAt(additionalProperties, `${at}.*`, depth + 1))
    return `additionalProperties of ${at} is not a schema`
  for (const keyword of ['anyOf', 'oneOf', 'allOf']) {
    const parts = schema[keyword]
    if (parts === undefined) continue
    if (!Array.isArray(parts) || parts.length === 0) return `${keyword} of ${at} is not a list`
    for (const part of parts) {
      const fault = faultAt(part, `${at}(${keyword})`, depth + 1)
      if (fault) return fault
    }
  }
  return null
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
