import { createHmac } from 'node:crypto'
import { connect } from 'node:net'

export type Load = { origin: string; secret: string; body: Buffer; clients: number; seconds: number }
export type Loaded = { perSecond: number; p50Ms: number; p99Ms: number; maxMs: number; accepted: number; refused: number }

/**
 * So many clients, each on a connection of its own that stays open, and each waits for its answer before it sends the next
 * delivery. Written on bare sockets: a whole HTTP client costs more than what is measured. The first part is not counted.
 */
export async function loadDoor({ origin, secret, body, clients, seconds }: Load): Promise<Loaded> {
  const { hostname, port } = new URL(origin)
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  const countFrom = performance.now() + 500
  const until = countFrom + seconds * 1_000
  const waits: number[] = []
  const counts = { accepted: 0, refused: 0 }
  const head = (id: string) =>
    [
      'POST /api/github/webhooks HTTP/1.1',
      `host: ${hostname}:${port}`,
      'content-type: application/json',
      `content-length: ${body.length}`,
      `x-github-delivery: ${id}`,
      'x-github-event: issue_comment',
      `x-hub-signature-256: ${signature}`,
      '\r\n',
    ].join('\r\n')
  const run = (client: number) =>
    new Promise<void>((resolve, reject) => {
      const socket = connect(Number(port), hostname).setNoDelay(true)
      let [sent, sentAt, text] = [0, 0, '']
      const next = () => {
        sentAt = performance.now()
        if (sentAt >= until) return socket.end(() => resolve())
        sent += 1
        text = ''
        socket.write(Buffer.concat([Buffer.from(head(`bench-${client}-${sent}`)), body]))
      }
      socket.on('connect', next).on('error', reject)
      socket.on('close', () => (performance.now() < until ? reject(new Error('the door closed a connection')) : resolve()))
      socket.on('data', chunk => {
        text += chunk.toString('latin1')
        if (!isWhole(text)) return
        counts[text.startsWith('HTTP/1.1 2') ? 'accepted' : 'refused'] += 1
        if (sentAt >= countFrom) waits.push(performance.now() - sentAt)
        next()
      })
    })
  await Promise.all(Array.from({ length: clients }, (_, client) => run(client)))
  waits.sort((one, other) => one - other)
  const at = (share: number) => waits[Math.floor((waits.length - 1) * share)] ?? Number.NaN
  return { perSecond: waits.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1), ...counts }
}

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return false
  const head = text.slice(0, end).toLowerCase()
  const length = /\r\ncontent-length: (\d+)/.exec(head)?.[1]
  if (length !== undefined) return text.length >= end + 4 + Number(length)
  return !head.includes('transfer-encoding: chunked') || text.endsWith('0\r\n\r\n')
}
