import * as z from 'zod'
import type { ToolCall } from '../../domain/index.ts'
import type { TokenCounts } from './token-counts.ts'

/** What we use of one streamed chunk; anything else a server adds is ignored. */
const Chunk = z.object({
  choices: z
    .array(
      z.object({
        index: z.number().nullish(),
        delta: z
          .object({
            content: z.string().nullish(),
            refusal: z.string().nullish(),
            reasoning_content: z.string().nullish(),
            reasoning: z.string().nullish(),
            tool_calls: z
              .array(
                z.object({
                  index: z.number().nullish(),
                  id: z.string().nullish(),
                  function: z.object({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
                }),
              )
              .nullish(),
          })
          .nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .nullish(),
  usage: z.unknown().optional(),
})

const count = z.int().nonnegative()
const ReportedUsage = z.object({
  prompt_tokens: count,
  completion_tokens: count,
  prompt_tokens_details: z.object({ cached_tokens: count.nullish() }).nullish(),
})

/** An answer as it grows. */
export type Answer = {
  text: string
  refusal: string
  /** Bytes of everything the model produced, reasoning included. */
  bytes: number
  reasoned: boolean
  calls: { id: string; name: string; arguments: string }[]
  finishReason: string | null
  usage: TokenCounts | null
}

export function emptyAnswer(): Answer {
  return { text: '', refusal: '', bytes: 0, reasoned: false, calls: [], finishReason: null, usage: null }
}

export type ChunkVerdict = 'content' | 'empty' | 'malformed'

/** Takes one chunk in. `empty` = nothing a person or a program could use: a keep-alive. */
export function addChunk(answer: Answer, value: unknown): ChunkVerdict {
  const parsed = Chunk.safeParse(value)
  if (!parsed.success) return 'malformed'
  const usage = ReportedUsage.safeParse(parsed.data.usage)
  if (usage.success) {
    const { prompt_tokens: inputTokens, completion_tokens: outputTokens, prompt_tokens_details: details } = usage.data
    answer.usage = { inputTokens, cachedTokens: Math.min(inputTokens, details?.cached_tokens ?? 0), outputTokens }
  }
  let verdict: ChunkVerdict = usage.success ? 'content' : 'empty'
  for (const choice of parsed.data.choices ?? []) {
    // We ask for one choice; others would mix into it.
    if ((choice.index ?? 0) !== 0) continue
    if (choice.finish_reason) {
      answer.finishReason = choice.finish_reason
      verdict = 'content'
    }
    if (choice.delta && addDelta(answer, choice.delta)) verdict = 'content'
  }
  return verdict
}

type Delta = NonNullable<NonNullable<z.infer<typeof Chunk>['choices']>[number]['delta']>

function addDelta(answer: Answer, delta: Delta): boolean {
  const before = answer.bytes
  if (delta.content) {
    answer.text += delta.content
    answer.bytes += Buffer.byteLength(delta.content)
  }
  if (delta.refusal) {
    answer.refusal += delta.refusal
    answer.bytes += Buffer.byteLength(delta.refusal)
  }
  const reasoning = delta.reasoning_content ?? delta.reasoning
  if (reasoning) {
    answer.reasoned = true
    answer.bytes += Buffer.byteLength(reasoning)
  }
  for (const part of delta.tool_calls ?? []) {
    const call = callAt(answer, part.index ?? null, part.id ?? null)
    if (part.id) call.id = part.id
    // Names come whole in the first part; servers that repeat them must not double them.
    if (part.function?.name && call.name === '') call.name = part.function.name
    call.arguments += part.function?.arguments ?? ''
    answer.bytes += Buffer.byteLength(part.function?.name ?? '') + Buffer.byteLength(part.function?.arguments ?? '')
  }
  return answer.bytes > before || (delta.tool_calls?.length ?? 0) > 0
}

/** Servers that leave the index out send each call whole, or go on with the id they began with. */
function callAt(answer: Answer, index: number | null, id: string | null): Answer['calls'][number] {
  const known = index === null ? answer.calls.find(call => id !== null && call.id === id) : answer.calls[index]
  if (known) return known
  const last = answer.calls.at(-1)
  if (index === null && id === null && last) return last
  const call = { id: '', name: '', arguments: '' }
  answer.calls.push(call)
  return call
}

/** Each call with an id of its own in the whole conversation, so that each can have exactly one result. */
export function settledCalls(answer: Answer, takenIds: ReadonlySet<string>): ToolCall[] {
  const own = new Set<string>()
  return answer.calls.map((call, index) => {
    const wish = call.id === '' ? `missing-call-id-${index}` : call.id
    let id = wish
    for (let number = 2; own.has(id) || takenIds.has(id); number++) id = `${wish}-${number}`
    own.add(id)
    return { id, name: call.name, arguments: call.arguments }
  })
}
