import { createHash } from 'node:crypto'
import type { ChatRequest } from './check-request.ts'
import type { Random } from './random.ts'
import type { CheckedFault, CheckedTurn, ScriptedUsage } from './script.ts'

/** Longest piece of text or arguments in one delta, in characters. */
const pieceCharactersMax = 24
/** Size of one delta of an endless answer, in characters. */
const hugePieceCharacters = 64 * 1024

export type Composed = {
  id: string
  text: string
  reasoning: string
  toolCalls: { id: string; name: string; arguments: string }[]
  finishReason: string | null
  usage: ScriptedUsage | null
  hugeBytes: number
}

/** The answer of one turn, after the faults that change what is said (not how it is sent). */
export function compose(turn: CheckedTurn, position: number, fault: CheckedFault | null, counted: ScriptedUsage): Composed {
  const calls = (turn.toolCalls ?? []).map((call, index) => ({
    id: call.id ?? callId(position, index, call.name),
    name: call.name,
    arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments),
  }))
  const whole: Composed = {
    id: `chatcmpl-${digest(`answer ${position}`).slice(0, 24)}`,
    text: turn.text ?? '',
    reasoning: turn.reasoning ?? '',
    toolCalls: calls,
    finishReason: turn.finishReason ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
    usage: turn.usage ?? counted,
    hugeBytes: 0,
  }
  switch (fault?.kind) {
    case 'reasoning-only':
      return { ...whole, text: '', toolCalls: [], reasoning: fault.text, finishReason: 'stop' }
    case 'empty':
      return { ...whole, text: '', toolCalls: [], finishReason: 'stop' }
    case 'length':
      return { ...whole, finishReason: 'length' }
    case 'no-usage':
      return { ...whole, usage: null }
    case 'wrong-usage':
      return { ...whole, usage: fault.usage }
    case 'huge':
      return { ...whole, toolCalls: [], finishReason: 'stop', hugeBytes: fault.bytes }
    case 'duplicate-call':
      return { ...whole, toolCalls: calls[0] ? [calls[0], ...calls] : [] }
    default:
      return whole
  }
}

/** The same turn always calls by the same id, also after a crash. */
function callId(position: number, index: number, name: string): string {
  return `call_${digest(`${position} ${index} ${name}`).slice(0, 24)}`
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').replace(/[-_]/g, 'x')
}

/** `data:` objects of the stream in order: role first, then text and calls in pieces, the finish, the usage. */
export function* chunksOf(answer: Composed, request: ChatRequest, random: Random, noFinish: boolean): Generator<object> {
  const chunk = (delta: object, finish: string | null = null) => ({
    ...head(answer, request),
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    ...nullUsage(request),
  })
  yield chunk({ role: 'assistant', content: answer.toolCalls.length > 0 && answer.text === '' ? null : '', refusal: null })
  for (const piece of pieces(answer.reasoning, random)) yield chunk({ reasoning_content: piece })
  for (const piece of pieces(answer.text, random)) yield chunk({ content: piece })
  for (let sent = 0; sent < answer.hugeBytes; sent += hugePieceCharacters)
    yield chunk({ content: 'x'.repeat(Math.min(hugePieceCharacters, answer.hugeBytes - sent)) })
  for (const [index, call] of answer.toolCalls.entries()) {
    yield chunk({ tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }] })
    for (const piece of pieces(call.arguments, random)) yield chunk({ tool_calls: [{ index, function: { arguments: piece } }] })
  }
  if (noFinish) return
  yield chunk({}, answer.finishReason)
  if (request.stream_options?.include_usage && answer.usage)
    yield { ...head(answer, request), choices: [], usage: renderUsage(answer.usage) }
}

/** While usage is asked for, every other chunk says null. */
function nullUsage(request: ChatRequest): object {
  return request.stream_options?.include_usage ? { usage: null } : {}
}

export function renderCompletion(answer: Composed, request: ChatRequest): object {
  const tool_calls = answer.toolCalls.map(call => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  }))
  const message = {
    role: 'assistant',
    content: answer.text === '' && tool_calls.length > 0 ? null : answer.text + 'x'.repeat(answer.hugeBytes),
    refusal: null,
    ...(answer.reasoning === '' ? {} : { reasoning_content: answer.reasoning }),
    ...(tool_calls.length > 0 ? { tool_calls } : {}),
  }
  return {
    ...head(answer, request),
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs: null, finish_reason: answer.finishReason }],
    ...(answer.usage ? { usage: renderUsage(answer.usage) } : {}),
  }
}

function head(answer: Composed, request: ChatRequest) {
  return {
    id: answer.id,
    object: 'chat.completion.chunk',
    created: Math.floor(Date.now() / 1000),
    model: request.model,
    service_tier: 'default',
    system_fingerprint: 'fp_simulated',
  }
}

function renderUsage(usage: ScriptedUsage) {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedTokens, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens, audio_tokens: 0 },
  }
}

/** Cuts text into pieces of seeded length, never inside a character: a delta is JSON text. TCP cuts are made later. */
function* pieces(text: string, random: Random): Generator<string> {
  let piece = ''
  let left = 1 + random(pieceCharactersMax)
  for (const character of text) {
    piece += character
    if (--left > 0) continue
    yield piece
    piece = ''
    left = 1 + random(pieceCharactersMax)
  }
  if (piece !== '') yield piece
}
