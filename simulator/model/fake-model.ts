import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ChatRequest, checkRequest, type RequestFault } from './check-request.ts'
import { compose } from './compose.ts'
import { createRandom } from './random.ts'
import { type CheckedFault, type CheckedTurn, ModelFault, ModelScript, ModelTurn, type ScriptedUsage } from './script.ts'
import { type Chunking, send } from './send.ts'

/** Largest request the fake reads, in bytes. */
const requestBytesMax = 64 * 1024 * 1024
/** A token is taken to be so many bytes when a script says no usage. */
const bytesPerToken = 4

export type ModelOptions = {
  port?: number
  seed?: number
  chunking?: Chunking
  latencyMs?: number
  chunkDelayMs?: number
  models?: string[]
}

/** A turn that reads what it was asked: for models that obey whatever they find. Null ends the script. */
export type TurnFunction = (request: ChatRequest, step: number) => ModelTurn | null

/** One request as the fake saw it. */
export type ModelRequest = {
  at: number
  path: string
  connection: number
  bytes: number
  bodyHash: string
  body: unknown
  /** Which turn of the script answered; null when none did. */
  step: number | null
  status: number
  fault: CheckedFault['kind'] | null
  /** Why the request was refused as invalid; null when it was not. */
  refusal: string | null
  /** Milliseconds until the answer was complete or the client went away; null while it lasts. */
  durationMs: number | null
  /** The client went away before the end. */
  aborted: boolean
}

export type FakeModel = {
  /** For `OPENAI_BASE_URL`: ends with `/v1`. */
  url: string
  /** Replaces the script, or with `match` adds one for the conversations whose messages contain that text. */
  script(turns: ModelScript | TurnFunction, options?: { match?: string }): void
  /** Meets the next requests, whatever the script; `skip` lets some through first. */
  fail(fault: ModelFault, options?: { skip?: number; match?: string }): void
  clearFaults(): void
  set(options: Pick<ModelOptions, 'chunking' | 'latencyMs' | 'chunkDelayMs'>): void
  requests: ModelRequest[]
  /** Distinct TCP connections that carried a request. */
  connections(): number
  /** Bodies that came more than once and were answered before. */
  repeated(): ModelRequest[]
  assertNoRefusedRequests(): void
  close(): Promise<void>
}

type Script = { match: string | null; turns: CheckedTurn[] | TurnFunction; faultsUsed: Map<string, number>; lastBody: string }
type PendingFault = { fault: CheckedFault; skip: number; left: number; match: string | null }
type ModelState = {
  scripts: Script[]
  faults: PendingFault[]
  requests: ModelRequest[]
  options: Required<Omit<ModelOptions, 'port' | 'models'>> & { models: string[] | null }
}

export async function startFakeModel(options: ModelOptions = {}): Promise<FakeModel> {
  const state: ModelState = {
    scripts: [newScript([], null)],
    faults: [],
    requests: [],
    options: {
      seed: options.seed ?? 1,
      chunking: options.chunking ?? 'bytes',
      latencyMs: options.latencyMs ?? 0,
      chunkDelayMs: options.chunkDelayMs ?? 0,
      models: options.models ?? null,
    },
  }
  const connections = new Map<Socket, number>()
  let connectionsSeen = 0
  const server = createServer((request, response) => {
    answer(state, request, response, connections.get(request.socket) ?? 0).catch(error => {
      if (!response.headersSent) response.writeHead(599, { 'content-type': 'text/plain' })
      response.end(`the fake model failed: ${error instanceof Error ? error.stack : String(error)}`)
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
      server.close()
      for (const socket of connections.keys()) socket.destroy()
      await once(server, 'close')
    },
  }
}

function createControls(state: ModelState): Omit<FakeModel, 'url' | 'requests' | 'close'> {
  return {
    script(turns, { match } = {}) {
      const script = newScript(typeof turns === 'function' ? turns : ModelScript.parse(turns), match ?? null)
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

function newScript(turns: Script['turns'], match: string | null): Script {
  return { match, turns, faultsUsed: new Map(), lastBody: '' }
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

async function answer(state: ModelState, request: IncomingMessage, response: ServerResponse, connection: number): Promise<void> {
  const bytes = await readAll(request)
  const path = new URL(request.url ?? '/', 'http://simulator').pathname
  const record: ModelRequest = {
    at: Date.now(),
    path: `${request.method} ${path}`,
    connection,
    bytes: bytes.length,
    bodyHash: createHash('sha256').update(bytes).digest('hex'),
    body: parseJson(bytes),
    step: null,
    status: 200,
    fault: null,
    refusal: null,
    durationMs: null,
    aborted: false,
  }
  state.requests.push(record)
  response.on('close', () => {
    record.durationMs = Date.now() - record.at
    record.aborted = !response.writableFinished
  })
  const refuse = (status: number, fault: RequestFault) => {
    record.status = status
    record.refusal = fault.message
    sendError(response, status, fault, 'invalid_request_error')
  }
  if (!/^Bearer \S+$/.test(request.headers.authorization ?? '')) {
    return refuse(401, { message: "You didn't provide an API key.", param: null, code: 'invalid_api_key' })
  }
  if (record.path === 'GET /v1/models') return sendModels(response, state.options.models ?? ['scripted'])
  if (record.path !== 'POST /v1/chat/completions') return refuse(404, { message: `Invalid URL (${record.path})`, param: null, code: null })
  if (!(request.headers['content-type'] ?? '').startsWith('application/json')) {
    return refuse(400, { message: 'The request must be application/json.', param: null, code: null })
  }
  const checked = checkRequest(record.body)
  if (checked.kind === 'bad') return refuse(400, checked.fault)
  const { models } = state.options
  if (models && !models.includes(checked.request.model)) {
    return refuse(404, { message: `The model '${checked.request.model}' does not exist`, param: null, code: 'model_not_found' })
  }
  await answerChat(state, checked.request, bytes.toString(), record, response)
}

async function answerChat(
  state: ModelState,
  request: ChatRequest,
  text: string,
  record: ModelRequest,
  response: ServerResponse,
): Promise<void> {
  const script = chooseScript(state, text)
  const step = request.messages.filter(message => message.role === 'assistant').length
  const turn = chooseTurn(script, request, step)
  record.step = step
  const fault = takeFault(state, text) ?? takeTurnFault(script, turn, step)
  record.fault = fault?.kind ?? null
  const latency = fault?.kind === 'latency' ? fault.ms : state.options.latencyMs
  if (latency > 0) await sleep(latency)
  if (fault?.kind === 'status') {
    record.status = fault.status
    return sendStatus(response, fault)
  }
  const counted = countUsage(script, text, turn)
  script.lastBody = text
  const random = createRandom(state.options.seed * 1000 + step)
  const { chunking, chunkDelayMs } = state.options
  await send(response, { request, answer: compose(turn, step, fault, counted), fault, random, chunking, chunkDelayMs })
}

/** The newest script whose text occurs in the conversation; the one without a text when none does. */
function chooseScript(state: ModelState, text: string): Script {
  const found = state.scripts.findLast(each => each.match !== null && text.includes(JSON.stringify(each.match).slice(1, -1)))
  const script = found ?? state.scripts.find(each => each.match === null)
  if (!script) throw new Error('the fake model has no script')
  return script
}

function chooseTurn(script: Script, request: ChatRequest, step: number): CheckedTurn {
  if (typeof script.turns !== 'function') return script.turns[step] ?? { text: 'done' }
  const turn = script.turns(request, step)
  return turn === null ? { text: 'done' } : ModelTurn.parse(turn)
}

function takeFault(state: ModelState, text: string): CheckedFault | null {
  for (const pending of state.faults) {
    if (pending.left === 0 || (pending.match !== null && !text.includes(pending.match))) continue
    if (pending.skip > 0) {
      pending.skip -= 1
      continue
    }
    pending.left -= 1
    return pending.fault
  }
  return null
}

function takeTurnFault(script: Script, turn: CheckedTurn, step: number): CheckedFault | null {
  const faults = turn.fault === undefined ? [] : Array.isArray(turn.fault) ? turn.fault : [turn.fault]
  for (const [index, fault] of faults.entries()) {
    const key = `${step} ${index}`
    const used = script.faultsUsed.get(key) ?? 0
    if (used >= fault.times) continue
    script.faultsUsed.set(key, used + 1)
    return fault
  }
  return null
}

/** Bytes over four, with the prefix shared with this conversation's last request counted as cached. */
function countUsage(script: Script, text: string, turn: CheckedTurn): ScriptedUsage {
  let shared = 0
  const last = script.lastBody
  while (shared < last.length && last.charCodeAt(shared) === text.charCodeAt(shared)) shared += 1
  const said = (turn.text ?? '') + JSON.stringify(turn.toolCalls ?? '')
  return {
    promptTokens: Math.ceil(text.length / bytesPerToken),
    completionTokens: Math.max(1, Math.ceil(said.length / bytesPerToken)),
    cachedTokens: Math.floor(shared / bytesPerToken),
    reasoningTokens: 0,
  }
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes <= requestBytesMax) chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return undefined
  }
}

function sendModels(response: ServerResponse, models: string[]): void {
  const data = models.map(id => ({ id, object: 'model', created: 1_700_000_000, owned_by: 'simulator' }))
  sendJson(response, 200, { object: 'list', data })
}

function sendStatus(response: ServerResponse, fault: CheckedFault & { kind: 'status' }): void {
  const headers = { ...fault.headers, ...(fault.retryAfterSeconds === undefined ? {} : { 'retry-after': String(fault.retryAfterSeconds) }) }
  if (fault.html) {
    response.writeHead(fault.status, { 'content-type': 'text/html', ...headers })
    response.end(`<html><head><title>${fault.status}</title></head></html>\r\n`)
    return
  }
  const type = fault.status === 429 ? 'rate_limit_error' : fault.status >= 500 ? 'server_error' : 'invalid_request_error'
  sendError(
    response,
    fault.status,
    { message: fault.message ?? `The simulated endpoint answers ${fault.status}.`, param: null, code: fault.code ?? null },
    type,
    headers,
  )
}

function sendError(
  response: ServerResponse,
  status: number,
  fault: RequestFault,
  type: string,
  headers: Record<string, string> = {},
): void {
  sendJson(response, status, { error: { message: fault.message, type, param: fault.param, code: fault.code } }, headers)
}

function sendJson(response: ServerResponse, status: number, json: object, headers: Record<string, string> = {}): void {
  const text = JSON.stringify(json)
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), ...headers })
  response.end(text)
}
