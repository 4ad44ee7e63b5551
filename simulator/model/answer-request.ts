import { createHash, randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ChatRequest, checkRequest, type RequestFault } from './check-request.ts'
import { compose } from './compose.ts'
import { chooseScript, chooseTurn, countUsage, type PendingFault, positionOf, type Script, takeFault } from './conversation.ts'
import { createRandom } from './random.ts'
import type { CheckedFault } from './script.ts'
import { type Chunking, send } from './send.ts'

/** Largest request the fake reads, in bytes. */
const requestBytesMax = 64 * 1024 * 1024

/** One request as the fake saw it. */
export type ModelRequest = {
  at: number
  path: string
  connection: number
  bytes: number
  bodyHash: string
  /** Parsed when it is looked at: a long session's requests would otherwise fill the memory many times over. */
  readonly body: unknown
  /** Which turn of the script answered; null when none did. */
  position: number | null
  status: number
  fault: CheckedFault['kind'] | null
  /** Why the request was refused as invalid; null when it was not. */
  refusal: string | null
  /** Milliseconds until the answer was complete or the client went away; null while it lasts. */
  durationMs: number | null
  /** The client went away before the end. */
  aborted: boolean
}

export type ModelState = {
  scripts: Script[]
  faults: PendingFault[]
  requests: ModelRequest[]
  options: { seed: number; chunking: Chunking; latencyMs: number; chunkDelayMs: number; models: string[] | null }
}

export async function answerRequest(
  state: ModelState,
  request: IncomingMessage,
  response: ServerResponse,
  connection: number,
): Promise<void> {
  const bytes = await readAll(request)
  const record = startRecord(request, bytes, connection)
  state.requests.push(record)
  response.setHeader('x-request-id', `req_${randomUUID()}`)
  response.on('close', () => {
    record.durationMs = Date.now() - record.at
    record.aborted = !response.writableFinished
  })
  if (record.path === 'GET /v1/models' && hasKey(request)) return sendModels(response, state.options.models ?? ['scripted'])
  const checked = check(state, request, record)
  if (checked.kind === 'bad') {
    record.status = checked.status
    record.refusal = checked.fault.message
    return sendError(response, checked.status, checked.fault, 'invalid_request_error')
  }
  await answerChat(state, checked.request, bytes, record, response)
}

function startRecord(request: IncomingMessage, bytes: Buffer, connection: number): ModelRequest {
  return {
    at: Date.now(),
    path: `${request.method} ${new URL(request.url ?? '/', 'http://simulator').pathname}`,
    connection,
    bytes: bytes.length,
    bodyHash: createHash('sha256').update(bytes).digest('hex'),
    get body() {
      return parseJson(bytes)
    },
    position: null,
    status: 200,
    fault: null,
    refusal: null,
    durationMs: null,
    aborted: false,
  }
}

function hasKey(request: IncomingMessage): boolean {
  return /^Bearer \S+$/.test(request.headers.authorization ?? '')
}

type Checked = { kind: 'ok'; request: ChatRequest } | { kind: 'bad'; status: number; fault: RequestFault }

function check(state: ModelState, request: IncomingMessage, record: ModelRequest): Checked {
  const bad = (status: number, message: string, code: string | null = null): Checked => ({
    kind: 'bad',
    status,
    fault: { message, param: null, code },
  })
  if (!hasKey(request)) return bad(401, "You didn't provide an API key.", 'invalid_api_key')
  if (record.path !== 'POST /v1/chat/completions') return bad(404, `Invalid URL (${record.path})`)
  if (!(request.headers['content-type'] ?? '').startsWith('application/json')) return bad(400, 'The request must be application/json.')
  const checked = checkRequest(record.body)
  if (checked.kind === 'bad') return { kind: 'bad', status: 400, fault: checked.fault }
  const { models } = state.options
  if (models && !models.includes(checked.request.model))
    return bad(404, `The model '${checked.request.model}' does not exist`, 'model_not_found')
  return checked
}

async function answerChat(
  state: ModelState,
  request: ChatRequest,
  body: Buffer,
  record: ModelRequest,
  response: ServerResponse,
): Promise<void> {
  const script = chooseScript(state.scripts, body)
  const position = positionOf(script, request, record.bodyHash)
  const turn = chooseTurn(script, request, position)
  const fault = takeFault(state.faults, script, turn, position, body)
  const usage = countUsage(script, body, turn)
  record.position = position
  record.fault = fault?.kind ?? null
  const { seed, chunking, chunkDelayMs, latencyMs } = state.options
  const wait = fault?.kind === 'latency' ? fault.ms : latencyMs
  if (wait > 0) await sleep(wait)
  if (fault?.kind === 'status') {
    record.status = fault.status
    return sendStatus(response, fault)
  }
  const answer = compose(turn, position, fault, usage)
  await send(response, { request, answer, fault, random: createRandom(seed * 1000 + position), chunking, chunkDelayMs })
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
  const { status, message = `The simulated endpoint answers ${status}.`, code = null, retryAfterSeconds } = fault
  const headers = { ...fault.headers, ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }) }
  if (fault.html) {
    response.writeHead(status, { 'content-type': 'text/html', ...headers })
    response.end(`<html><head><title>${status}</title></head></html>\r\n`)
    return
  }
  const type = status === 429 ? 'rate_limit_error' : status >= 500 ? 'server_error' : 'invalid_request_error'
  sendError(response, status, { message, param: null, code }, type, headers)
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
