import { chmodSync, closeSync, constants, openSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { own } from '../run-folder.ts'
import type { SandboxUser } from '../sandbox.ts'
import { type Endpoint, isListed, parseAuthority } from './allow-list.ts'
import { type Allowance, count, draw } from './allowance.ts'
import { dial, type PrivateEndpoint } from './dial.ts'
import { egressLimits } from './limits.ts'
import { openTunnel } from './tunnel.ts'

export type EgressEntry = { host: string; port: number; verdict: 'allowed' | 'refused'; reason: string }

export type EgressProxy = { log(): readonly EgressEntry[]; close(): Promise<void> }

export type EgressRules = {
  allow: readonly Endpoint[]
  permitted: readonly PrivateEndpoint[]
  sentBytesMax: number
  receivedBytesMax: number
}

/**
 * The only way out of a session whose network is `proxy`: an HTTP proxy on a Unix socket of its own, so that the log can
 * be attributed to one run. It knows CONNECT and absolute http:// requests, and answers everything else with a refusal.
 */
export async function startEgressProxy(folder: string, user: SandboxUser, rules: EgressRules): Promise<EgressProxy> {
  const log = createLog()
  const allowance: Allowance = { sentLeft: rules.sentBytesMax, receivedLeft: rules.receivedBytesMax }
  const readRequests = (client: Duplex) => {
    server.emit('connection', client)
    // It was paused while its first bytes were looked at.
    client.resume()
  }
  const context: ProxyContext = { rules, log, allowance, tunnelled: new WeakMap(), readRequests }
  const server = createServer(
    { maxHeaderSize: egressLimits.headerBytesMax, headersTimeout: egressLimits.headersMs },
    (incoming, answer) => {
      forward(context, incoming, answer).catch(() => answer.destroy())
    },
  )
  server.on('connect', (incoming: IncomingMessage, client: Duplex, head: Buffer) => {
    tunnel(context, incoming, client, head).catch(() => client.destroy())
  })
  server.on('upgrade', (_: IncomingMessage, client: Duplex) => refuse(client, 501, 'upgrades are not proxied'))
  server.on('clientError', (_: Error, client: Duplex) => refuse(client, 400, 'this is not a request'))
  server.maxConnections = egressLimits.connectionsMax
  server.requestTimeout = egressLimits.connectionMs
  const path = join(folder, 'egress.sock')
  // A socket's path may have 107 bytes, which a data folder's easily exceed: it is named by its open folder. Closing the
  // server removes that name again, so the folder stays open for as long as the server.
  const folderFd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY)
  const shortPath = `/proc/self/fd/${folderFd}/egress.sock`
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(shortPath, resolve)).catch(error => {
    closeSync(folderFd)
    throw error
  })
  chmodSync(path, 0o600)
  own(path, user)
  const sockets = new Set<Duplex>()
  server.on('connection', socket => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    const timer = setTimeout(() => socket.destroy(), egressLimits.connectionMs)
    socket.once('close', () => clearTimeout(timer))
    socket.setTimeout(egressLimits.idleMs, () => socket.destroy())
  })
  let closed: Promise<void> | null = null
  const close = () =>
    new Promise<void>(resolve => {
      server.close(() => {
        closeSync(folderFd)
        resolve()
      })
      for (const socket of sockets) socket.destroy()
    })
  return {
    log: log.entries,
    // Once only: by a second time the number of the descriptor may be somebody else's.
    close() {
      closed ??= close()
      return closed
    },
  }
}

type ProxyContext = {
  rules: EgressRules
  log: EgressLog
  allowance: Allowance
  /** Client connections that carry plain HTTP inside a CONNECT, with the one place they are for. */
  tunnelled: WeakMap<Duplex, Endpoint>
  /** Reads such a connection as requests. */
  readRequests(client: Duplex): void
}

/**
 * CONNECT host:port. The answer 200 is given before the client's first bytes are judged, because they come after it: TLS
 * for that very host is carried on; plain HTTP (Node's fetch tunnels it too) is read request by request; anything else ends.
 */
async function tunnel(context: ProxyContext, incoming: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
  client.on('error', () => client.destroy())
  const endpoint = parseAuthority(incoming.url ?? '', null)
  const verdict = judge(context, endpoint, incoming, 443)
  if (verdict !== null || endpoint === null) return refuseLogged(context, client, endpoint, incoming.url ?? '', verdict ?? '')
  const dialled = await dial(endpoint, context.rules.permitted)
  if (dialled.kind !== 'connected')
    return refuseLogged(context, client, endpoint, '', dialled.reason, dialled.kind === 'failed' ? 502 : 403)
  client.write('HTTP/1.1 200 Connection established\r\n\r\n')
  const opened = await openTunnel(client, dialled.socket, head, endpoint, context.allowance)
  if (opened.kind === 'plain') {
    context.tunnelled.set(client, endpoint)
    context.readRequests(client)
    return
  }
  context.log.add(endpoint, opened.kind === 'carried' ? 'allowed' : 'refused', opened.kind === 'carried' ? 'tunnel' : opened.reason)
}

/** GET http://host/path and its kin, or GET /path inside a tunnel. */
async function forward(context: ProxyContext, incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
  const { endpoint, path, asked } = targetOf(context, incoming)
  const verdict = judge(context, endpoint, incoming, endpoint?.port ?? 80)
  if (verdict !== null || endpoint === null) return refuseLogged(context, answer, endpoint, asked, verdict ?? '')
  // A path and headers carry data out as well as a body does.
  if (!draw(context.allowance, 'sentLeft', headBytes(incoming))) {
    return refuseLogged(context, answer, endpoint, asked, 'the session has sent as much as it may')
  }
  const dialled = await dial(endpoint, context.rules.permitted)
  if (dialled.kind !== 'connected')
    return refuseLogged(context, answer, endpoint, '', dialled.reason, dialled.kind === 'failed' ? 502 : 403)
  context.log.add(endpoint, 'allowed', 'request')
  const { socket } = dialled
  const upstream = request({
    createConnection: () => socket,
    method: incoming.method,
    path,
    headers: passedHeaders(incoming),
    setHost: false,
  })
  count(context.allowance, 'sentLeft', incoming, socket)
  upstream.on('response', response => {
    count(context.allowance, 'receivedLeft', response, socket)
    answer.writeHead(response.statusCode ?? 502, passedHeaders(response))
    response.pipe(answer)
  })
  upstream.on('error', () => (answer.headersSent ? answer.destroy() : refuse(answer, 502, 'the server broke the connection')))
  answer.on('close', () => socket.destroy())
  incoming.pipe(upstream)
}

function targetOf(context: ProxyContext, incoming: IncomingMessage): { endpoint: Endpoint | null; path: string; asked: string } {
  const url = incoming.url ?? ''
  const tunnelled = context.tunnelled.get(incoming.socket)
  if (tunnelled) return { endpoint: url.startsWith('/') ? tunnelled : null, path: url, asked: url }
  const [, authority = '', path = '/'] = /^http:\/\/([^/?#@\\]+)(\/[^#\s]*)?$/.exec(url) ?? []
  return { endpoint: parseAuthority(authority, 80), path, asked: authority || url }
}

function headBytes(incoming: IncomingMessage): number {
  return [incoming.url ?? '', ...incoming.rawHeaders].reduce((sum, text) => sum + text.length, 0)
}

/** Why a request is refused, or null. A Host header must name the same place as the request itself. */
function judge({ rules }: ProxyContext, endpoint: Endpoint | null, incoming: IncomingMessage, defaultPort: number): string | null {
  if (endpoint === null) return 'the address is not a plain host and port'
  const hosts = incoming.headersDistinct.host ?? []
  if (hosts.length > 1) return 'more than one Host header'
  const named = hosts[0] === undefined ? endpoint : parseAuthority(hosts[0], defaultPort)
  if (named?.host !== endpoint.host || (named.port !== endpoint.port && named.port !== defaultPort))
    return 'the Host header names another place'
  return isListed(endpoint, rules.allow) ? null : 'not on the allow-list'
}

/** Hop-by-hop headers end here (RFC 9110 7.6.1), and with them anything a client's Connection header names. */
function passedHeaders(message: IncomingMessage): string[] {
  const named = (message.headers.connection ?? '').split(',').map(name => name.trim().toLowerCase())
  const dropped = new Set([...hopByHop, ...named.filter(name => name !== 'host')])
  const passed: string[] = []
  for (let index = 0; index < message.rawHeaders.length; index += 2) {
    const [name, value] = [message.rawHeaders[index] as string, message.rawHeaders[index + 1] as string]
    if (!dropped.has(name.toLowerCase())) passed.push(name, value)
  }
  return passed
}

const hopByHop = [
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade'],
]

function refuseLogged(
  context: ProxyContext,
  client: Duplex | ServerResponse,
  endpoint: Endpoint | null,
  asked: string,
  reason: string,
  status = 403,
): void {
  context.log.add(endpoint ?? { host: asked, port: 0 }, 'refused', reason)
  refuse(client, status, reason)
}

function refuse(client: Duplex | ServerResponse, status: number, reason: string): void {
  const text = `grokbot egress: ${reason}\n`
  if ('writeHead' in client) {
    client.writeHead(status, { 'content-type': 'text/plain', connection: 'close' }).end(text)
    return
  }
  client.end(
    `HTTP/1.1 ${status} Refused\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  )
}

type EgressLog = { add(endpoint: Endpoint, verdict: EgressEntry['verdict'], reason: string): void; entries(): readonly EgressEntry[] }

/** Bounded, and free of anything a terminal or a page would take for more than text: the names come from inside. */
function createLog(): EgressLog {
  const entries: EgressEntry[] = []
  return {
    add(endpoint, verdict, reason) {
      if (entries.length >= egressLimits.logEntriesMax) return
      const host = endpoint.host.replace(/[^\x21-\x7e]/g, '?').slice(0, egressLimits.logTextMax)
      entries.push({ host, port: endpoint.port, verdict, reason })
    },
    entries: () => entries,
  }
}
