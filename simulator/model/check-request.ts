import * as z from 'zod'
import { schemaFault } from './check-schema.ts'

/** Tools an endpoint accepts in one request. */
const toolsMax = 128

const TextPart = z.strictObject({ type: z.literal('text'), text: z.string() })
const ImagePart = z.strictObject({
  type: z.literal('image_url'),
  image_url: z.strictObject({ url: z.string(), detail: z.enum(['auto', 'low', 'high']).optional() }),
})
const text = z.union([z.string(), z.array(TextPart).min(1)])
const Call = z.strictObject({
  id: z.string().min(1),
  type: z.literal('function'),
  function: z.strictObject({ name: z.string().min(1), arguments: z.string() }),
})

const Message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: text, name: z.string().optional() }),
  z.strictObject({ role: z.literal('developer'), content: text, name: z.string().optional() }),
  z.strictObject({
    role: z.literal('user'),
    content: z.union([z.string(), z.array(z.union([TextPart, ImagePart])).min(1)]),
    name: z.string().optional(),
  }),
  z.strictObject({
    role: z.literal('assistant'),
    content: text.nullish(),
    refusal: z.string().nullish(),
    reasoning_content: z.string().nullish(),
    name: z.string().optional(),
    tool_calls: z.array(Call).min(1).optional(),
  }),
  z.strictObject({ role: z.literal('tool'), content: text, tool_call_id: z.string() }),
])

const Tool = z.strictObject({
  type: z.literal('function'),
  function: z.strictObject({
    name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
    description: z.string().optional(),
    parameters: z.record(z.string(), z.unknown()).optional(),
    strict: z.boolean().nullish(),
  }),
})

export const ChatRequest = z.strictObject({
  model: z.string().min(1),
  messages: z.array(Message).min(1),
  tools: z.array(Tool).min(1).max(toolsMax).optional(),
  tool_choice: z
    .union([
      z.enum(['none', 'auto', 'required']),
      z.strictObject({ type: z.literal('function'), function: z.strictObject({ name: z.string() }) }),
    ])
    .optional(),
  parallel_tool_calls: z.boolean().optional(),
  stream: z.boolean().nullish(),
  stream_options: z.strictObject({ include_usage: z.boolean().optional(), include_obfuscation: z.boolean().optional() }).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  n: z.int().min(1).max(128).nullish(),
  max_tokens: z.int().positive().nullish(),
  max_completion_tokens: z.int().positive().nullish(),
  stop: z.union([z.string(), z.array(z.string()).max(4)]).nullish(),
  seed: z.int().nullish(),
  frequency_penalty: z.number().nullish(),
  presence_penalty: z.number().nullish(),
  response_format: z.looseObject({ type: z.string() }).optional(),
  reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']).nullish(),
  prompt_cache_key: z.string().optional(),
  safety_identifier: z.string().optional(),
  user: z.string().optional(),
  store: z.boolean().nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
  service_tier: z.string().nullish(),
  verbosity: z.enum(['low', 'medium', 'high']).nullish(),
})
export type ChatRequest = z.infer<typeof ChatRequest>
type Message = z.infer<typeof Message>

export type RequestFault = { message: string; param: string | null; code: string | null }
export type CheckedRequest = { kind: 'ok'; request: ChatRequest } | { kind: 'bad'; fault: RequestFault }

/** What a real endpoint checks and many fakes do not. */
export function checkRequest(body: unknown): CheckedRequest {
  const parsed = ChatRequest.safeParse(body)
  if (!parsed.success) return bad(describe(parsed.error))
  const request = parsed.data
  const fault = findStreamFault(request) ?? findToolFault(request) ?? findThreadFault(request.messages)
  return fault ? bad(fault) : { kind: 'ok', request }
}

function bad(fault: RequestFault): CheckedRequest {
  return { kind: 'bad', fault }
}

function describe(error: z.ZodError): RequestFault {
  const [issue] = error.issues
  if (!issue) throw new Error('a failed parse without an issue')
  const param = issue.path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index > 0 ? '.' : ''}${String(part)}`))
    .join('')
  if (issue.code === 'unrecognized_keys') {
    const names = issue.keys.map(key => (param === '' ? key : `${param}.${key}`))
    return { message: `Unrecognized request argument supplied: ${names.join(', ')}`, param: names[0] ?? null, code: 'unknown_parameter' }
  }
  return { message: `Invalid value for '${param}': ${issue.message}`, param, code: 'invalid_value' }
}

function findStreamFault(request: ChatRequest): RequestFault | null {
  if (!request.stream_options || request.stream) return null
  return { message: "The 'stream_options' parameter is only allowed when 'stream' is enabled.", param: 'stream_options', code: null }
}

function findToolFault(request: ChatRequest): RequestFault | null {
  const names = new Set<string>()
  for (const [index, tool] of (request.tools ?? []).entries()) {
    const { name, parameters } = tool.function
    if (names.has(name))
      return { message: `Duplicate function name: ${name}`, param: `tools[${index}].function.name`, code: 'invalid_value' }
    names.add(name)
    const fault = parameters === undefined ? null : schemaFault(parameters)
    if (fault) {
      return {
        message: `Invalid schema for function '${name}': ${fault}`,
        param: `tools[${index}].function.parameters`,
        code: 'invalid_function_parameters',
      }
    }
  }
  if (request.tool_choice && request.tool_choice !== 'none' && names.size === 0) {
    return { message: "'tool_choice' is only allowed when 'tools' are specified.", param: 'tool_choice', code: null }
  }
  return null
}

/** Each tool message answers a call before it, each call is answered before anything else is said. */
function findThreadFault(messages: readonly Message[]): RequestFault | null {
  const open = new Set<string>()
  const seen = new Set<string>()
  for (const [index, message] of messages.entries()) {
    const param = `messages[${index}]`
    if (message.role === 'tool') {
      if (!open.delete(message.tool_call_id)) {
        return {
          message: `Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.`,
          param: `${param}.role`,
          code: null,
        }
      }
      continue
    }
    if (open.size > 0) return unanswered(open, param)
    if (message.role !== 'assistant') continue
    if (message.tool_calls === undefined && (message.content === null || message.content === undefined)) {
      return { message: `Invalid value for 'content': expected a string, got null.`, param: `${param}.content`, code: null }
    }
    for (const call of message.tool_calls ?? []) {
      if (seen.has(call.id))
        return { message: `Duplicate value for 'tool_call_id' of '${call.id}'.`, param: `${param}.tool_calls`, code: 'duplicate_value' }
      seen.add(call.id)
      open.add(call.id)
    }
  }
  return open.size > 0 ? unanswered(open, `messages[${messages.length - 1}]`) : null
}

function unanswered(open: ReadonlySet<string>, param: string): RequestFault {
  const ids = [...open].join(', ')
  return {
    message: `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids}`,
    param,
    code: null,
  }
}
