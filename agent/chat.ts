import { createHash, type Hash } from 'node:crypto'
import type { ToolCall } from '../domain/index.ts'

/**
 * The conversation. It is the only writer of messages, and each one is turned into bytes once: a request is the bytes so
 * far and a closing bracket, so the 200th turn costs what the first one did, and what a server has cached stays valid.
 */
export type Chat = {
  /** `text` may be null beside tool calls. Arguments are given as they shall stand in the conversation. */
  addAssistant(text: string, calls: readonly ToolCall[]): void
  addResult(callId: string, text: string): void
  /** A remark of ours between turns. */
  addNote(text: string): void
  /** The request as it would be sent now, and its hash. */
  request(): ChatRequest
  bytes(): number
}

export type ChatRequest = { body: Buffer; hash: string }

/** `head` holds everything that stays the same: model, parameters, tools. Messages come last. */
export function openChat(head: object, systemPrompt: string, userPrompt: string): Chat {
  const bytes = growingBytes()
  const headText = JSON.stringify(head)
  bytes.append(`${headText.slice(0, -1)}${headText === '{}' ? '' : ','}"messages":[`)
  bytes.append(JSON.stringify({ role: 'system', content: systemPrompt }))
  const add = (message: object) => bytes.append(`,${JSON.stringify(message)}`)
  add({ role: 'user', content: userPrompt })
  return {
    addAssistant(text, calls) {
      const toolCalls = calls.map(call => ({ id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } }))
      add({
        role: 'assistant',
        content: text === '' && calls.length > 0 ? null : text,
        ...(calls.length > 0 ? { tool_calls: toolCalls } : {}),
      })
    },
    addResult: (callId, text) => add({ role: 'tool', tool_call_id: callId, content: text }),
    addNote: text => add({ role: 'user', content: text }),
    request: () => bytes.close(']}'),
    bytes: () => bytes.length(),
  }
}

/**
 * Bytes that only grow, hashed as they come. A closed request is a view, not a copy: only its tail is written over by the
 * next message, and that comes after the request was answered; a retry sends the same bytes.
 */
function growingBytes() {
  let buffer = Buffer.allocUnsafe(65_536)
  let used = 0
  const hash: Hash = createHash('sha256')
  const reserve = (count: number) => {
    if (used + count <= buffer.byteLength) return
    const larger = Buffer.allocUnsafe(Math.max(buffer.byteLength * 2, used + count))
    buffer.copy(larger, 0, 0, used)
    buffer = larger
  }
  return {
    append(text: string) {
      const count = Buffer.byteLength(text)
      reserve(count)
      buffer.write(text, used)
      hash.update(buffer.subarray(used, used + count))
      used += count
    },
    close(tail: string): ChatRequest {
      reserve(tail.length)
      buffer.write(tail, used, 'latin1')
      return { body: buffer.subarray(0, used + tail.length), hash: hash.copy().update(tail).digest('hex') }
    },
    length: () => used,
  }
}
