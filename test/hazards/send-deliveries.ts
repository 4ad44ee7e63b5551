import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { Agent, request } from 'node:http'

export type Sent = { id: string; status: number; text: string; ms: number }
export type Wish = {
  origin: string
  secret: string
  body: Buffer
  id: string
  event?: string
  headers?: Record<string, string | undefined>
}

/** One webhook as GitHub sends it. */
export async function sendDelivery(
  { origin, secret, body, id, event = 'issue_comment', headers = {} }: Wish,
  agent?: Agent,
): Promise<Sent> {
  const all = {
    'content-type': 'application/json',
    'content-length': String(body.length),
    'x-github-delivery': id,
    'x-github-event': event,
    'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    ...headers,
  }
  const startedAt = performance.now()
  const call = request(`${origin}/api/github/webhooks`, {
    method: 'POST',
    headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)),
    ...(agent ? { agent } : { agent: false }),
  })
  call.end(body)
  const [response] = await once(call, 'response')
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return { id, status: response.statusCode, text: Buffer.concat(chunks).toString().trim(), ms: performance.now() - startedAt }
}

/** Many, so many at a time, each with an id of its own. */
export async function sendMany(wish: Omit<Wish, 'id'>, count: number, together: number): Promise<Sent[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: together })
  const sent: Sent[] = []
  let next = 0
  const one = async () => {
    while (next < count) sent.push(await sendDelivery({ ...wish, id: `many-${next++}` }, agent))
  }
  await Promise.all(Array.from({ length: together }, one))
  agent.destroy()
  return sent
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN
}
