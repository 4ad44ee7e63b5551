import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A scripted model over real HTTP: each request takes the next turn. */
export type Turn =
  | {
      text?: string
      toolCalls?: { id?: string; name: string; arguments: unknown }[]
      usage?: object | null
      finish?: string
      reasoning?: string
    }
  | { respond(request: IncomingMessage, response: ServerResponse, body: string): void }

export type ModelServer = {
  url: string
  requests: { body: string; headers: IncomingMessage['headers'] }[]
  connections(): number
  close(): Promise<void>
}

export async function startModel(turns: Turn[] | ((n: number, body: string) => Turn)): Promise<ModelServer> {
  const requests: ModelServer['requests'] = []
  let connections = 0
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      requests.push({ body, headers: request.headers })
      const n = requests.length - 1
      const turn = typeof turns === 'function' ? turns(n, body) : turns[n]
      if (!turn) return void response.writeHead(500).end('{"error":{"message":"no more turns"}}')
      if ('respond' in turn) return turn.respond(request, response, body)
      answer(response, turn)
    })
  })
  server.on('connection', () => {
    connections++
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    connections: () => connections,
    async close() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

export function event(data: unknown): string {
  return `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
}

export function chunk(delta: object, finish: string | null = null): string {
  return event({ id: 'x', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })
}

export function answer(response: ServerResponse, turn: Exclude<Turn, { respond: unknown }>): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  if (turn.reasoning) response.write(chunk({ reasoning_content: turn.reasoning }))
  if (turn.text) response.write(chunk({ role: 'assistant', content: turn.text }))
  for (const [index, call] of (turn.toolCalls ?? []).entries()) {
    const text = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments)
    response.write(
      chunk({ tool_calls: [{ index, id: call.id ?? `call_${index}`, type: 'function', function: { name: call.name, arguments: '' } }] }),
    )
    const half = Math.floor(text.length / 2)
    response.write(chunk({ tool_calls: [{ index, function: { arguments: text.slice(0, half) } }] }))
    response.write(chunk({ tool_calls: [{ index, function: { arguments: text.slice(half) } }] }))
  }
  response.write(chunk({}, turn.finish ?? (turn.toolCalls?.length ? 'tool_calls' : 'stop')))
  if (turn.usage !== null)
    response.write(
      event({
        choices: [],
        usage: turn.usage ?? { prompt_tokens: 1000, completion_tokens: 50, prompt_tokens_details: { cached_tokens: 200 } },
      }),
    )
  response.end(event('[DONE]'))
}
