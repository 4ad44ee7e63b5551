import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { crashpoint, type Logger } from '../telemetry/index.ts'
import { isSameText } from './is-same-text.ts'
import { appLimits } from './limits.ts'
import type { TextAnswer } from './operations.ts'
import type { createPages } from './pages/create-pages.ts'
import type { PageAnswer } from './pages/page-answer.ts'
import { sendPage } from './pages/send-page.ts'
import { isServedAction } from './served-events.ts'

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
  /** What the operator asks; absent: nothing is. Null: not such a question. */
  operations?(request: IncomingMessage): Promise<TextAnswer | null>
  /** The pages behind links; absent: there are none. Null: not one of them. */
  pages?: ReturnType<typeof createPages>
  meter?: ReceiverMeter
  now(): number
  logger: Logger
}

/** Told of each delivery when it begins to come in, and of what was answered, with the seconds in between. */
export type ReceiverMeter = { received(): void; answered(answer: DeliveryAnswer, seconds: number): void }

export type ReceiverOptions = { secret: string; deliveryBytesMax: number; receivingBytesMax?: number; paths: readonly string[] }

/** What a delivery is answered with; everything but the first three is a refusal. `not-served`: it is not kept. */
export const deliveryAnswers = {
  recorded: 202,
  known: 202,
  'not-served': 202,
  'too-large': 413,
  unsigned: 401,
  malformed: 400,
  busy: 503,
  'not-stored': 503,
  /** Nobody is there any more to hear it. */
  'cut-off': 400,
} as const
export type DeliveryAnswer = keyof typeof deliveryAnswers

/**
 * The raw door for webhooks: bytes → limit → HMAC over those bytes → store → answer. 2xx leaves only after the delivery is
 * durable; when the ledger is unsure the answer is 503, so that GitHub records a failed delivery that can be sent again.
 */
export function createReceiver(options: ReceiverOptions, ports: ReceiverPorts): Server {
  if (options.secret.trim() === '') throw new Error('the receiver needs a webhook secret')
  const door: Door = { receivingBytesMax: appLimits.receivingBytesMax, ...options, ...ports, reading: { bytes: 0 } }
  const { requestMsMax: requestTimeout, headersMsMax: headersTimeout, connectionsLookMs: connectionsCheckingInterval } = appLimits
  return createServer({ requestTimeout, headersTimeout, connectionsCheckingInterval }, (request, response) => {
    answer(request, door).then(
      answer => reply(response, answer),
      error => {
        ports.logger.error({ error }, 'a request could not be answered')
        reply(response, { status: 503, text: 'it can not be answered now\n' })
      },
    )
  })
}

type Door = Required<ReceiverOptions> & ReceiverPorts & { reading: { bytes: number } }

async function answer(request: IncomingMessage, door: Door): Promise<TextAnswer | PageAnswer> {
  const other = (await door.operations?.(request)) ?? (await door.pages?.({ method: request.method ?? '', url: request.url ?? '' }))
  if (other) return other
  if (!door.paths.includes(request.url?.split('?', 1)[0] ?? '')) return { status: 404, text: 'no such page\n' }
  if (request.method !== 'POST') return { status: 405, text: 'POST only\n' }
  const startedAt = performance.now()
  door.meter?.received()
  const [kind, words] = await receive(request, door)
  door.meter?.answered(kind, (performance.now() - startedAt) / 1_000)
  return { status: deliveryAnswers[kind], text: `${words}\n` }
}

type Received = readonly [DeliveryAnswer, words: string]

const unsigned: Received = ['unsigned', 'signature missing or wrong']

async function receive(request: IncomingMessage, door: Door): Promise<Received> {
  const signature = header(request, 'x-hub-signature-256')
  // Nothing is held for whoever does not even claim to be GitHub.
  const body = await readBody(request, door, signature === '' ? unsigned : null)
  if (!Buffer.isBuffer(body)) return body
  crashpoint('receiver.beforeVerify')
  if (!isSigned(body, signature, door.secret)) return unsigned
  const id = header(request, 'x-github-delivery')
  const event = header(request, 'x-github-event')
  if (!/^[\w-]{1,100}$/.test(id) || event === '') return ['malformed', 'X-GitHub-Delivery or X-GitHub-Event missing']
  const action = actionOf(body)
  if (action === null) return ['malformed', 'the body is not JSON']
  if (!isServedAction(event, action)) return ['not-served', 'not one of our events']
  return await store({ id, event, action, body, receivedAt: door.now() }, door)
}

async function store(delivery: Parameters<ReceiverPorts['recordDelivery']>[0], door: Door): Promise<Received> {
  try {
    crashpoint('receiver.beforeStore')
    const kind = await door.recordDelivery(delivery)
    crashpoint('receiver.afterStore')
    if (kind === 'recorded') door.onDelivery(delivery.id)
    return [kind, kind]
  } catch (error) {
    door.logger.error({ error }, 'delivery could not be stored')
    return ['not-stored', 'not stored; send it again']
  }
}

function header(request: IncomingMessage, name: string): string {
  const value = request.headers[name]
  return typeof value === 'string' ? value : ''
}

/** What is refused is still read, so that the answer reaches the sender, but nothing of it is kept. */
async function readBody(
  request: IncomingMessage,
  { deliveryBytesMax, receivingBytesMax, reading }: Door,
  refusal: Received | null,
): Promise<Buffer | Received> {
  const chunks: Buffer[] = []
  let [bytes, held] = [0, 0]
  const letGo = () => {
    chunks.length = 0
    reading.bytes -= held
    held = 0
  }
  let refused = refusal
  try {
    for await (const chunk of request) {
      bytes += chunk.length
      if (bytes > deliveryBytesMax) refused = ['too-large', `larger than ${deliveryBytesMax} bytes`]
      // Anybody can begin to send: without this, many large bodies that are not signed would take all memory.
      else if (reading.bytes + chunk.length > receivingBytesMax) refused ??= ['busy', 'too much is coming in; send it again']
      if (refused) letGo()
      else {
        chunks.push(chunk)
        held += chunk.length
        reading.bytes += chunk.length
      }
    }
    return refused ?? Buffer.concat(chunks)
  } catch {
    return ['cut-off', 'it did not come in whole']
  } finally {
    letGo()
  }
}

function isSigned(body: Buffer, signature: string, secret: string): boolean {
  return isSameText(signature, `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`)
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

function reply(response: ServerResponse, answer: TextAnswer | PageAnswer) {
  if ('body' in answer) return sendPage(response, answer)
  const bytes = Buffer.from(answer.text)
  response
    .writeHead(answer.status, { 'content-type': 'text/plain; charset=utf-8', 'content-length': bytes.length, ...answer.headers })
    .end(bytes, () => {
      if (answer.status === deliveryAnswers.recorded) crashpoint('receiver.answered')
    })
}
