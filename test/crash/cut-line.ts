import { once } from 'node:events'
import { type ClientRequest, createServer, type IncomingMessage, request as requestAt, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/**
 * `before`: the request never arrives. `after`: the server has done it, and its answer never arrives. `half`: the answer ends
 * in the middle.
 */
export const cutKinds = ['before', 'after', 'half'] as const
export type Cut = { request: string; kind: (typeof cutKinds)[number] }

/** The way from our processes to both fakes: every request is named and counted here, and one of them can be cut. */
export type CutLine = {
  githubUrl: string
  modelUrl: string
  lead(to: { github: string; model: string }): void
  /** From now on requests are counted anew, and the one that is named is cut. */
  begin(cut: Cut | null): void
  /** The requests since then, by name: `<METHOD> <path>#<how many of that name>`. */
  seen(): string[]
  wasCut(): boolean
  close(): Promise<void>
}

export async function startCutLine(): Promise<CutLine> {
  const ahead: Ahead = {
    github: new URL('http://127.0.0.1'),
    model: new URL('http://127.0.0.1'),
    cut: null,
    wasCut: false,
    seen: [],
    sockets: new Set(),
  }
  const [github, model] = [await open('github', ahead), await open('model', ahead)]
  return {
    githubUrl: `${github.origin}/api/v3`,
    modelUrl: `${model.origin}/v1`,
    lead(to) {
      ahead.github = new URL(to.github)
      ahead.model = new URL(to.model)
    },
    begin(cut) {
      Object.assign(ahead, { cut, wasCut: false, seen: [] })
    },
    seen: () => ahead.seen,
    wasCut: () => ahead.wasCut,
    async close() {
      for (const socket of ahead.sockets) socket.destroy()
      await Promise.all([github, model].map(({ server }) => new Promise(closed => server.close(closed))))
    },
  }
}

type Side = 'github' | 'model'
type Ahead = Record<Side, URL> & { cut: Cut | null; wasCut: boolean; seen: string[]; sockets: Set<Socket> }

async function open(side: Side, ahead: Ahead): Promise<{ server: Server; origin: string }> {
  let origin = ''
  const server = createServer((request, response) => pass(side, request, response, ahead, origin))
  server.on('connection', socket => {
    socket.setNoDelay(true)
    ahead.sockets.add(socket.on('error', () => undefined).on('close', () => ahead.sockets.delete(socket)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { server, origin }
}

function pass(side: Side, request: IncomingMessage, response: ServerResponse, ahead: Ahead, origin: string): void {
  const kind = cutOf(nameOf(request), ahead)
  if (kind === 'before') return void request.socket.destroy()
  const { hostname, port } = ahead[side]
  // A connection each: one that the server closed while it was idle would look like a cut of ours.
  const sent = requestAt({ hostname, port, path: request.url, method: request.method, headers: request.headers, agent: false })
  sent.on('error', () => request.socket.destroy()).on('response', answer => void give(answer, response, kind, [ahead[side].origin, origin]))
  // Whoever asked may go away in the middle, as a killed process does; then nobody waits for the rest.
  response.on('close', () => response.writableFinished || endUnlessCut(sent, kind))
  request.pipe(sent)
}

function endUnlessCut(sent: ClientRequest, kind: Cut['kind'] | null): void {
  if (kind === null) sent.destroy()
}

function cutOf(name: string | null, ahead: Ahead): Cut['kind'] | null {
  if (name === null) return null
  const number = ahead.seen.filter(each => each.startsWith(`${name}#`)).length + 1
  const request = `${name}#${number}`
  ahead.seen.push(request)
  if (ahead.cut?.request !== request) return null
  ahead.wasCut = true
  return ahead.cut.kind
}

/** The sweep of failed deliveries comes by the clock, whatever a task does. */
const byTheClock = /\/app\/hook\//

/** Without what differs from run to run: numbers, hashes, and all of the query but git's service. */
function nameOf({ method = '', url = '' }: IncomingMessage): string | null {
  const { pathname, searchParams } = new URL(url, 'http://line')
  if (byTheClock.test(pathname)) return null
  const path = pathname
    .replace(/^\/api\/v3/, '')
    .replace(/\/[0-9a-f]{40}(?=\/|$)/g, '/{sha}')
    .replace(/\/\d+(?=\/|$)/g, '/{n}')
    .replace(/grok%2F[^/]+|grok\/[^/]+/g, '{branch}')
  const service = searchParams.get('service')
  return `${method} ${path}${service === null ? '' : `?${service}`}`
}

/** What points to the fake points to this line again, or git and the next page would go past it. */
async function give(
  answer: IncomingMessage,
  response: ServerResponse,
  kind: Cut['kind'] | null,
  [from, to]: [string, string],
): Promise<void> {
  const { statusCode = 502, headers } = answer
  if (kind === null && !/\bjson\b/.test(headers['content-type'] ?? '')) {
    response.writeHead(statusCode, headers)
    answer.on('error', () => response.destroy()).on('close', () => answer.complete || response.destroy())
    return void answer.pipe(response)
  }
  const chunks: Buffer[] = []
  try {
    for await (const chunk of answer) chunks.push(chunk)
  } catch {
    return void response.socket?.destroy()
  }
  if (kind === 'after') return void response.socket?.destroy()
  const body = Buffer.from(Buffer.concat(chunks).toString('latin1').replaceAll(from, to), 'latin1')
  const { 'transfer-encoding': _, ...rest } = headers
  const link = rest['link'] === undefined ? {} : { link: String(rest['link']).replaceAll(from, to) }
  const hasBody = statusCode !== 204 && statusCode !== 304
  response.writeHead(statusCode, { ...rest, ...link, ...(hasBody ? { 'content-length': body.length } : {}) })
  if (kind !== 'half') return void response.end(hasBody ? body : undefined)
  if (body.length > 1) response.write(body.subarray(0, body.length >> 1), () => response.socket?.destroy())
  else response.socket?.destroy()
}
