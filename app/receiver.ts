import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { crashpoint, type Logger } from '../telemetry/index.ts'
import type { createPages } from './pages/create-pages.ts'
import type { PageAnswer } from './pages/page-answer.ts'
import { sendPage } from './pages/send-page.ts'
import { isServedEvent, servedEvents } from './served-events.ts'

/** What the receiver needs: somewhere durable to put a delivery, and someone to tell. */
export type ReceiverPorts = {
  recordDelivery(delivery: {
    id: string
    event: string
    action: string
    body: Uint8Array
    receivedAt: number
  }): Promise<'recorded' | 'known'>
  onDelivery(id: string): void
  /** Why deliveries should go elsewhere for now; null = they may come. What comes all the same is stored if it can be. */
  notReady(): Promise<string | null>
  /** The pages behind links; absent: there are none. Null: not one of them. */
  pages?: ReturnType<typeof createPages>
  now(): number
  logger: Logger
}

export type ReceiverOptions = { secret: string; deliveryBytesMax: number; paths: readonly string[] }

/**
 * The raw door for webhooks: bytes → limit → HMAC over those bytes → store → answer. 2xx leaves only after the delivery is
 * durable; when the ledger is unsure the answer is 503, so that GitHub records a failed delivery that can be sent again.
 */
export function createReceiver(options: ReceiverOptions, ports: ReceiverPorts): Server {
  if (options.secret === '') throw new Error('the receiver needs a webhook secret')
  return createServer((request, response) => {
    receive(request, options, ports).then(
      answer => reply(response, answer),
      error => {
        ports.logger.error({ error }, 'delivery could not be stored')
        reply(response, { status: 503, text: 'not stored; send it again' })
      },
    )
  })
}

type Answer = { status: number; text: string } | PageAnswer

async function receive(request: IncomingMessage, options: ReceiverOptions, ports: ReceiverPorts): Promise<Answer> {
  const path = request.url?.split('?', 1)[0] ?? ''
  if (request.method === 'GET' && path === '/healthz') return { status: 200, text: 'ok' }
  if (request.method === 'GET' && path === '/readyz') {
    const why = await ports.notReady()
    return why === null ? { status: 200, text: 'ready' } : { status: 503, text: `not ready: ${why}` }
  }
  const page = await ports.pages?.({ method: request.method ?? '', url: request.url ?? '' })
  if (page) return page
  if (!options.paths.includes(path)) return { status: 404, text: 'no such page' }
  if (request.method !== 'POST') return { status: 405, text: 'POST only' }
  const body = await readBody(request, options.deliveryBytesMax)
  if (body === null) return { status: 413, text: `larger than ${options.deliveryBytesMax} bytes` }
  if (!isSigned(body, header(request, 'x-hub-signature-256'), options.secret)) return { status: 401, text: 'signature missing or wrong' }
  const id = header(request, 'x-github-delivery')
  const event = header(request, 'x-github-event')
  if (!/^[\w-]{1,100}$/.test(id) || event === '') return { status: 400, text: 'X-GitHub-Delivery or X-GitHub-Event missing' }
  const action = actionOf(body)
  if (action === null) return { status: 400, text: 'the body is not JSON' }
  if (!isServed(event, action)) return { status: 202, text: 'not one of our events' }
  crashpoint('receiver.beforeStore')
  const kind = await ports.recordDelivery({ id, event, action, body, receivedAt: ports.now() })
  crashpoint('receiver.afterStore')
  if (kind === 'recorded') ports.onDelivery(id)
  return { status: 202, text: kind }
}

function isServed(event: string, action: string): boolean {
  return isServedEvent(event) && (servedEvents[event] as readonly string[]).includes(action)
}

function header(request: IncomingMessage, name: string): string {
  const value = request.headers[name]
  return typeof value === 'string' ? value : ''
}

async function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    // The rest is still read, so that the answer reaches the sender, but nothing of it is kept.
    if (bytes <= bytesMax) chunks.push(chunk)
    else chunks.length = 0
  }
  return bytes > bytesMax ? null : Buffer.concat(chunks)
}

function isSigned(body: Buffer, signature: string, secret: string): boolean {
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`)
  const given = Buffer.from(signature)
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** The `action` of a JSON object; '' when it has none, null when the bytes are no JSON object. */
function actionOf(body: Buffer): string | null {
  try {
    const parsed: unknown = JSON.parse(body.toString('utf8'))
    if (typeof parsed !== 'object' || parsed === null) return null
    return 'action' in parsed && typeof parsed.action === 'string' ? parsed.action : ''
  } catch {
    // The one place where "no JSON" is an expected value: the sender is told 400.
    return null
  }
}

function reply(response: ServerResponse, answer: Answer) {
  if ('body' in answer) return sendPage(response, answer)
  const { status, text } = answer
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`)
}
