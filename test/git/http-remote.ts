import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** What a smart-HTTP remote saw, and how it behaves. */
export type HttpRemote = {
  /** `http://127.0.0.1:PORT/` */
  origin: string
  requests: { method: string; path: string; authorization: string | null }[]
  /** Command lines and environments of all processes that lived while a request was open. */
  seen: { commandLines: string }
  close(): Promise<void>
}

export type Behaviour = {
  /** Folder with bare repositories; `/name.git` is one of them. */
  root: string
  /** The only password that is taken; absent = everybody may read and write. */
  token?: string
  /** Answers instead of the repository; true = it has answered. */
  instead?: (request: IncomingMessage, response: ServerResponse) => boolean
}

/** A smart-HTTP git server on the loopback, with git's own http-backend behind it. */
export async function startHttpRemote(behaviour: Behaviour): Promise<HttpRemote> {
  const requests: HttpRemote['requests'] = []
  const seen = { commandLines: '' }
  const server = createServer((request, response) => {
    requests.push({ method: request.method ?? '', path: request.url ?? '', authorization: request.headers.authorization ?? null })
    seen.commandLines += readCommandLines()
    if (behaviour.instead?.(request, response)) return
    if (behaviour.token && !isAuthorised(request, behaviour.token)) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end('no')
      return
    }
    serveGit(behaviour.root, request, response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => closeServer(server))
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, seen, close: () => closeServer(server) }
}

async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise<void>(resolve => server.close(() => resolve()))
}

function isAuthorised(request: IncomingMessage, token: string): boolean {
  return request.headers.authorization === `Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`
}

function serveGit(root: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://x')
  const backend = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env.PATH ?? '',
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_CONFIG_COUNT: '2',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
      GIT_CONFIG_KEY_1: 'http.receivepack',
      GIT_CONFIG_VALUE_1: 'true',
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method ?? 'GET',
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      REMOTE_ADDR: '127.0.0.1',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  backend.stdin.on('error', () => {})
  request.pipe(backend.stdin)
  let head = Buffer.alloc(0)
  let started = false
  backend.stdout.on('data', (chunk: Buffer) => {
    if (started) return void response.write(chunk)
    head = Buffer.concat([head, chunk])
    const end = head.indexOf('\r\n\r\n')
    if (end < 0) return
    started = true
    const headers = Object.fromEntries(
      head
        .toString('latin1', 0, end)
        .split('\r\n')
        .map(line => line.split(/: (.*)/s).slice(0, 2) as [string, string]),
    )
    const { Status: status, ...rest } = headers
    response.writeHead(Number((status ?? '200').split(' ')[0]), rest)
    response.write(head.subarray(end + 4))
  })
  backend.on('close', () => response.end())
}

function readCommandLines(): string {
  const lines: string[] = []
  for (const pid of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    try {
      lines.push(readFileSync(`/proc/${pid}/cmdline`, 'latin1'))
    } catch {
      // It has ended.
    }
  }
  return lines.join('\n')
}
