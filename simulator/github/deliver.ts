import { createHmac, randomUUID } from 'node:crypto'
import { request as startRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Delivery, GitHubState } from './state.ts'

/** GitHub waits no longer for an answer, in milliseconds. */
const answerMs = 10_000
/** GitHub sends no larger payload, in bytes. */
const payloadBytesMax = 25 * 1024 * 1024
/** Kept of the answer's body, in bytes. */
const answerBytesMax = 64 * 1024
/** Long enough for two pieces to arrive as two, in milliseconds. */
const betweenChunksMs = 10

export type DeliveryWish = {
  event: string
  /** An object is written as compact JSON; bytes and text are sent as they are. */
  payload: object | string | Buffer
  to: string
  /** The delivery's GUID; the same again plays a redelivery. */
  id?: string
  /** Signs with another secret, or not at all. */
  secret?: string | null
  /** Replaces or (with null) removes headers. */
  headers?: Record<string, string | null>
  /** Byte offsets at which the body is cut into separate TCP chunks. */
  chunks?: number[]
  timeoutMs?: number
}

/** POSTs a webhook as GitHub's hook shot does, and remembers it for the deliveries API. Never throws for a failed delivery. */
export async function deliver(state: GitHubState, wish: DeliveryWish): Promise<Delivery> {
  const body = toBytes(wish.payload)
  if (body.length > payloadBytesMax) throw new Error('GitHub would not send a payload of more than 25 MB')
  const parsed = readFields(body)
  const guid = wish.id ?? randomUUID()
  const headers = hookHeaders(state, wish, body, guid)
  const startedAt = state.now()
  const answer = await post(wish.to, headers, body, wish.chunks ?? [], wish.timeoutMs ?? answerMs)
  const delivery: Delivery = {
    id: state.nextId(),
    guid,
    event: wish.event,
    action: parsed.action,
    url: wish.to,
    body,
    deliveredAt: startedAt,
    durationMs: state.now() - startedAt,
    redelivery: state.deliveries.some(each => each.guid === guid),
    installationId: parsed.installationId,
    repositoryId: parsed.repositoryId,
    requestHeaders: headers,
    ...answer,
  }
  state.deliveries.push(delivery)
  return delivery
}

function toBytes(payload: object | string | Buffer): Buffer {
  if (Buffer.isBuffer(payload)) return payload
  return Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload))
}

function hookHeaders(state: GitHubState, wish: DeliveryWish, body: Buffer, guid: string): Record<string, string> {
  const secret = wish.secret === undefined ? state.app.webhookSecret : wish.secret
  const headers: Record<string, string> = {
    accept: '*/*',
    'content-type': 'application/json',
    'user-agent': 'GitHub-Hookshot/044aadd',
    'x-github-delivery': guid,
    'x-github-event': wish.event,
    'x-github-hook-id': String(state.app.id),
    'x-github-hook-installation-target-id': String(state.app.id),
    'x-github-hook-installation-target-type': 'integration',
    'content-length': String(body.length),
  }
  if (secret !== null) {
    headers['x-hub-signature'] = `sha1=${createHmac('sha1', secret).update(body).digest('hex')}`
    headers['x-hub-signature-256'] = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  }
  for (const [name, value] of Object.entries(wish.headers ?? {})) {
    if (value === null) delete headers[name.toLowerCase()]
    else headers[name.toLowerCase()] = value
  }
  return headers
}

function readFields(body: Buffer): { action: string | null; installationId: number | null; repositoryId: number | null } {
  try {
    const value = JSON.parse(body.toString()) as { action?: unknown; installation?: { id?: unknown }; repository?: { id?: unknown } } | null
    return {
      action: typeof value?.action === 'string' ? value.action : null,
      installationId: typeof value?.installation?.id === 'number' ? value.installation.id : null,
      repositoryId: typeof value?.repository?.id === 'number' ? value.repository.id : null,
    }
  } catch {
    return { action: null, installationId: null, repositoryId: null }
  }
}

type HookAnswer = { statusCode: number; status: string; responseBody: string }

function post(to: string, headers: Record<string, string>, body: Buffer, cuts: number[], timeoutMs: number): Promise<HookAnswer> {
  return new Promise(resolve => {
    const request = startRequest(to, { method: 'POST', headers, agent: false }, response => {
      const chunks: Buffer[] = []
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes <= answerBytesMax) chunks.push(chunk)
      })
      const finish = () => {
        clearTimeout(timer)
        const statusCode = response.statusCode ?? 0
        resolve({
          statusCode,
          status: statusCode < 400 ? 'OK' : `Invalid HTTP Response: ${statusCode}`,
          responseBody: Buffer.concat(chunks).toString(),
        })
      }
      response.on('end', finish)
      response.on('error', finish)
    })
    const fail = (status: string) => {
      clearTimeout(timer)
      request.destroy()
      resolve({ statusCode: 0, status, responseBody: '' })
    }
    const timer = setTimeout(() => fail('timed out'), timeoutMs)
    request.on('error', () => fail('failed to connect to host'))
    void writeInChunks(request, body, cuts)
  })
}

/** Each piece goes out by itself and a moment apart, so that the receiver sees a character cut in two where a test wants it. */
async function writeInChunks(request: ReturnType<typeof startRequest>, body: Buffer, cuts: number[]): Promise<void> {
  if (cuts.length > 0) request.setNoDelay(true)
  let from = 0
  for (const to of cuts.filter(each => each > 0 && each < body.length)) {
    await new Promise<void>(resolve => request.write(body.subarray(from, to), () => resolve()))
    await sleep(betweenChunksMs)
    from = to
  }
  request.end(body.subarray(from))
}
