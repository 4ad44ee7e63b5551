import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { answerRequest, type ModelRequest, type ModelState } from './answer-request.ts'
import { newScript, type TurnChoice, type TurnFunction } from './conversation.ts'
import { ModelFault, ModelScript } from './script.ts'
import type { Chunking } from './send.ts'

export type ModelOptions = {
  port?: number
  /** Decides where streams are cut. */
  seed?: number
  chunking?: Chunking
  /** Before the first byte of each answer. */
  latencyMs?: number
  chunkDelayMs?: number
  /** Names that exist; any name does when not given. */
  models?: string[]
}

export type FakeModel = {
  /** For `OPENAI_BASE_URL`: ends with `/v1`. */
  url: string
  /** Replaces the script, or with `match` adds one for the conversations whose messages contain that text. */
  script(turns: ModelScript | TurnFunction, options?: { match?: string; choice?: TurnChoice }): void
  /** Meets the next requests, whatever the script; `skip` lets some through first. */
  fail(fault: ModelFault, options?: { skip?: number; match?: string }): void
  clearFaults(): void
  set(options: Pick<ModelOptions, 'chunking' | 'latencyMs' | 'chunkDelayMs'>): void
  requests: ModelRequest[]
  /** Distinct TCP connections that carried a request. */
  connections(): number
  /** Requests whose body had been answered, whole, before. */
  repeated(): ModelRequest[]
  assertNoRefusedRequests(): void
  close(): Promise<void>
}

export async function startFakeModel(options: ModelOptions = {}): Promise<FakeModel> {
  const { seed = 1, chunking = 'bytes', latencyMs = 0, chunkDelayMs = 0, models = null } = options
  const state: ModelState = {
    scripts: [newScript([], null, 'answers')],
    faults: [],
    requests: [],
    options: { seed, chunking, latencyMs, chunkDelayMs, models },
  }
  const connections = new Map<Socket, number>()
  let connectionsSeen = 0
  const server = createServer((request, response) => {
    answerRequest(state, request, response, connections.get(request.socket) ?? 0).catch(error => {
      // A client that went away is its own business; everything else is a bug of the fake or of a scripted function.
      if (request.destroyed && !request.complete) return
      const message = `the fake model failed: ${error instanceof Error ? error.stack : String(error)}`
      const record = state.requests.at(-1)
      if (record) record.refusal = message
      if (!response.headersSent) response.writeHead(599, { 'content-type': 'text/plain' })
      response.end(message)
    })
  })
  server.on('connection', socket => {
    socket.setNoDelay(true)
    connections.set(socket, ++connectionsSeen)
    socket.on('close', () => connections.delete(socket))
  })
  server.listen(options.port ?? 0, '127.0.0.1')
  await once(server, 'listening')
  return {
    ...createControls(state),
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests: state.requests,
    close: async () => {
      if (!server.listening) return
      server.close()
      for (const socket of connections.keys()) socket.destroy()
      await once(server, 'close')
    },
  }
}

function createControls(state: ModelState): Omit<FakeModel, 'url' | 'requests' | 'close'> {
  return {
    script(turns, { match, choice = 'answers' } = {}) {
      const script = newScript(typeof turns === 'function' ? turns : ModelScript.parse(turns), match ?? null, choice)
      state.scripts = [...state.scripts.filter(each => each.match !== script.match), script]
    },
    fail(fault, { skip = 0, match } = {}) {
      const checked = ModelFault.parse(fault)
      state.faults.push({ fault: checked, skip, left: checked.times, match: match ?? null })
    },
    clearFaults: () => {
      state.faults = []
    },
    set: options => Object.assign(state.options, options),
    connections: () => new Set(state.requests.map(each => each.connection)).size,
    repeated: () => findRepeated(state.requests),
    assertNoRefusedRequests() {
      const refused = state.requests.filter(each => each.refusal !== null)
      if (refused.length > 0) throw new Error(`the fake model refused:\n${refused.map(each => `${each.path}: ${each.refusal}`).join('\n')}`)
    },
  }
}

function findRepeated(requests: readonly ModelRequest[]): ModelRequest[] {
  const answered = new Set<string>()
  const repeated: ModelRequest[] = []
  for (const each of requests) {
    if (answered.has(each.bodyHash)) repeated.push(each)
    if (each.status === 200 && each.durationMs !== null && !each.aborted) answered.add(each.bodyHash)
  }
  return repeated
}
