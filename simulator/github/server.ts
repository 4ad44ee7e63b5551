import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { callApi } from './call-api.ts'
import { readCredential, recordCredential } from './credential.ts'
import { createFaults, type Faults } from './fault.ts'
import { faultAfter, faultBefore } from './fault-answer.ts'
import { isGitRequest, serveGit } from './git-http.ts'
import { createLinks, type Links } from './links.ts'
import { exchangeOf, type Observe } from './observe.ts'
import { respond } from './respond.ts'
import { createMatcher, type Match, type Route } from './route.ts'
import { fullName, type GitHubState, type RequestRecord } from './state.ts'

export type ApiServer = { origin: string; links: Links; faults: Faults; observe(listener: Observe): void; close(): Promise<void> }

export type Context = {
  state: GitHubState
  links: Links
  faults: Faults
  match(method: string, path: string): Match | null
  observe: Observe | null
  /** One write at a time, so that "does it exist already" and "make it" are one act. */
  exclusive: Exclusive
}
type Exclusive = <T>(work: () => Promise<T>) => Promise<T>

/** One HTTP server for the API and for git, on a port of 127.0.0.1. */
export async function startServer(state: GitHubState, routes: readonly Route[], port: number): Promise<ApiServer> {
  const connections = new Map<Socket, number>()
  let connectionsSeen = 0
  const faults = createFaults()
  const match = createMatcher(routes)
  const context: Context = { state, links: createLinks(''), faults, match, observe: null, exclusive: createExclusive() }
  const server = createServer((request, response) => {
    answer(context, request, response, connections.get(request.socket) ?? 0).catch(error => {
      if (request.destroyed && !request.complete) return
      // A bug in the fake must be seen by the test, and must not look like one of GitHub's answers.
      if (!response.headersSent) response.writeHead(599, { 'content-type': 'text/plain' })
      response.end(`the fake GitHub failed: ${error instanceof Error ? error.stack : String(error)}`)
    })
  })
  server.on('connection', socket => {
    connections.set(socket, ++connectionsSeen)
    socket.on('close', () => connections.delete(socket))
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  context.links = createLinks(origin)
  const observe = (listener: Observe) => {
    context.observe = listener
  }
  return { origin, links: context.links, faults, observe, close: () => closeServer(server, connections) }
}

async function closeServer(server: Server, connections: Map<Socket, number>): Promise<void> {
  if (!server.listening) return
  server.close()
  for (const socket of connections.keys()) socket.destroy()
  await once(server, 'close')
}

/** The REST API is under `/api/v3`; GraphQL stands beside it on an enterprise server, and at the top on github.com. */
const apiBase = /^\/api\/v3(?=\/(?!graphql$)|$)|^(?:\/api)?(?=\/graphql$)/

async function answer(context: Context, request: IncomingMessage, response: ServerResponse, connection: number): Promise<void> {
  const { state } = context
  const method = request.method ?? ''
  const url = new URL(request.url ?? '/', 'http://simulator')
  const git = isGitRequest(method, url)
  const isApi = apiBase.test(url.pathname)
  const path = nameOf(state, url.pathname.replace(apiBase, ''))
  const match = git || !isApi ? null : context.match(method, path)
  const credential = readCredential(state, request.headers.authorization)
  const record: RequestRecord = {
    at: state.now(),
    method,
    url: request.url ?? '',
    route: git ? `git ${git.kind}` : match ? `${match.route.method} ${match.route.path}` : null,
    auth: recordCredential(state, credential),
    attempt: credential.kind === 'token' && credential.token.kind === 'installation' ? credential.token.attempt : null,
    body: undefined,
    status: null,
    fault: null,
    durationMs: null,
    connection,
  }
  state.requests.push(record)
  response.on('close', () => {
    record.durationMs = state.now() - record.at
  })
  const fault = context.faults.take({ route: record.route, method, path, auth: record.auth.kind })
  record.fault = fault?.kind ?? null
  if (fault && (await faultBefore(fault, request, response, record, state))) return
  if (git) return serveGit(context, { ...git, credential, fault, record }, request, response)
  const result = await callApi(context, { match, credential, path, url, record, loseEdit: fault?.kind === 'lost' }, request)
  record.status = result.status
  if (match) context.observe?.(exchangeOf(match, url, record, result))
  if (fault && (await faultAfter(fault, response, result, record))) return
  respond(state, request, response, result, credential)
}

/** `/repositories/{id}/…`, where redirects of renamed repositories lead, under the present name. */
function nameOf(state: GitHubState, path: string): string {
  const found = /^\/repositories\/(\d+)(.*)$/.exec(path)
  const repository = found && [...state.repositories.values()].find(each => each.id === Number(found[1]))
  return repository ? `/repos/${fullName(repository)}${found[2]}` : path
}

function createExclusive(): Exclusive {
  let last: Promise<unknown> = Promise.resolve()
  return work => {
    const mine = last.then(work)
    last = mine.catch(() => {})
    return mine
  }
}
