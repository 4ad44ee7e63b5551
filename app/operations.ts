import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { QueueHealth } from '../queue/index.ts'
import type { Logger } from '../telemetry/index.ts'
import { isSameText } from './is-same-text.ts'

export type OperationsPorts = {
  /** Why this process should be started again; null = it lives. */
  notAlive(): string | null
  /** Why it should get no work for now; null = it may. */
  notReady(): Promise<string | null>
  queueHealth(): QueueHealth
  /** In Prometheus's text format; null: this process measures nothing. */
  metrics: (() => Promise<MetricsText>) | null
  /** With one set, nobody gets the metrics without it; null: callers of this machine do. */
  metricsToken: string | null
}

export type MetricsText = { contentType: string; text: string }
export type TextAnswer = { status: number; text: string; headers?: Record<string, string> }

/** What whoever runs the process asks it. Null: not one of these questions. */
export async function answerOperator(request: IncomingMessage, ports: OperationsPorts): Promise<TextAnswer | null> {
  if (request.method !== 'GET' && request.method !== 'HEAD') return null
  switch (request.url?.split('?', 1)[0]) {
    case '/healthz': {
      const why = ports.notAlive()
      return why === null ? { status: 200, text: 'ok\n' } : { status: 503, text: `not alive: ${why}\n` }
    }
    case '/readyz': {
      const why = await ports.notReady()
      const bell = bellWords(ports.queueHealth())
      return why === null ? { status: 200, text: `ready${bell}\n` } : { status: 503, text: `not ready: ${why}${bell}\n` }
    }
    case '/metrics':
      return await answerMetrics(request, ports)
    default:
      return null
  }
}

/** A bell that is down refuses no delivery, and is said. */
function bellWords(queue: QueueHealth): string {
  return queue.kind === 'redis' ? `; redis: ${queue.state}` : ''
}

async function answerMetrics(request: IncomingMessage, { metrics, metricsToken }: OperationsPorts): Promise<TextAnswer> {
  if (metrics === null) return { status: 404, text: 'this process has no metrics\n' }
  if (metricsToken !== null) {
    if (!isSameText(request.headers.authorization ?? '', `Bearer ${metricsToken}`))
      return { status: 401, text: 'GROKBOT_METRICS_TOKEN is needed, as bearer\n', headers: { 'www-authenticate': 'Bearer' } }
  } else if (!isOfThisMachine(request)) return { status: 403, text: 'from this machine only; elsewhere set GROKBOT_METRICS_TOKEN\n' }
  const { contentType, text } = await metrics()
  return { status: 200, text, headers: { 'content-type': contentType, 'cache-control': 'no-store' } }
}

const proxyHeaders = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via']

/** Not what a proxy of this machine passes on for the whole world. */
function isOfThisMachine(request: IncomingMessage): boolean {
  const from = request.socket.remoteAddress?.replace(/^::ffff:/, '') ?? ''
  const isLoopback = from === '::1' || /^127\./.test(from)
  return isLoopback && proxyHeaders.every(name => request.headers[name] === undefined)
}

/** The door of a process that has no other: these questions and nothing else. */
export function createOperationsServer(ports: OperationsPorts, logger: Logger): Server {
  return createServer((request, response) => {
    const send = ({ status, text, headers }: TextAnswer) =>
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...headers }).end(text)
    answerOperator(request, ports).then(
      answer => send(answer ?? { status: 404, text: 'no such page\n' }),
      error => {
        logger.error({ error }, 'a question of the operator could not be answered')
        send({ status: 503, text: 'it can not be said now\n' })
      },
    )
  })
}
