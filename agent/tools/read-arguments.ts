/**
 * Reads the argument string of a tool call. Models send it empty, twice in a row, or broken; each has a defined reading.
 */
export type ReadArguments =
  | { kind: 'object'; value: object }
  | { kind: 'salvaged'; value: object; note: string }
  | { kind: 'invalid'; reason: string }

/** `fits` says whether an object is one the tool takes: of several concatenated objects the first that fits counts. */
export function readArguments(text: string, fits: (value: object) => boolean): ReadArguments {
  if (text.trim() === '') return { kind: 'object', value: {} }
  let failure: string
  try {
    const value: unknown = JSON.parse(text)
    if (isRecord(value)) return { kind: 'object', value }
    // Some servers encode the arguments twice.
    if (typeof value === 'string') return readArguments(value, fits)
    return {
      kind: 'invalid',
      reason: `the arguments must be a JSON object, got ${value === null ? 'null' : Array.isArray(value) ? 'an array' : typeof value}`,
    }
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error)
  }
  const objects = splitObjects(text)
  if (objects === null) return { kind: 'invalid', reason: `the arguments are not valid JSON: ${failure}` }
  const chosen = objects.find(fits) ?? (objects[0] as object)
  return {
    kind: 'salvaged',
    value: chosen,
    note: `The arguments held ${objects.length} JSON objects in a row; only the first that fits this tool was used. Make one call for each.`,
  }
}

/** What stands in the conversation in place of the model's own argument string: always one valid JSON object. */
export function conversationArguments(text: string, fits: (value: object) => boolean): string {
  const read = readArguments(text, fits)
  if (read.kind === 'invalid') return JSON.stringify({ raw: text })
  if (read.kind === 'salvaged') return JSON.stringify(read.value)
  return text.trim() === '' ? '{}' : isObjectText(text) ? text : JSON.stringify(read.value)
}

/** `{…}{…}` as its objects; null when the text is anything else. Braces in strings do not count. */
function splitObjects(text: string): object[] | null {
  const found: object[] = []
  let depth = 0
  let start = -1
  let inString = false
  for (let index = 0; index < text.length; index++) {
    const character = text[index] as string
    if (inString) {
      if (character === '\\') index++
      else if (character === '"') inString = false
      continue
    }
    if (character === '"' && depth > 0) inString = true
    else if (character === '{') {
      if (depth === 0) start = index
      depth++
    } else if (character === '}') {
      depth--
      if (depth < 0) return null
      if (depth === 0) {
        const value = parseObject(text.slice(start, index + 1))
        if (!value) return null
        found.push(value)
      }
    } else if (depth === 0 && !/\s/.test(character)) return null
  }
  return depth === 0 && found.length > 1 ? found : null
}

function parseObject(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : null
  } catch {
    return null
  }
}

function isObjectText(text: string): boolean {
  return parseObject(text) !== null
}

export function isRecord(value: unknown): value is { [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
