import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { z } from 'zod'
import { type Answer, forbidden, notFound, refused } from './answer.ts'
import { type Credential, readCredential, recordCredential } from './credential.ts'
import { createFaults, type Fault, type Faults } from './fault.ts'
import { answerFault, htmlPage } from './fault-answer.ts'
import { type GitRequest, isGitRequest, serveGit } from './git-http.ts'
import { createLinks, type Links } from './links.ts'
import { atLeast, canSee, grants, roleFor, roleOf } from './permission.ts'
import { type Call, createMatcher, type Match, type Need, type Route } from './route.ts'
import { schemaMessage } from './schema-message.ts'
import { findRepository, type GitHubState, type RequestRecord } from './state.ts'
import { findTargets } from './target.ts'

/** GitHub takes no larger request body, in bytes. */
const bodyBytesMax = 25 * 1024 * 1024
/** Requests an hour and token, as GitHub counts for an App's installation. */
const rateLimit = 5000

export type ApiServer = { origin: string; links: Links; faults: Faults; close(): Promise<void> }

type Context = { state: GitHubState; links: Links; faults: Faults; match(method: string, path: string): Match | null; exclusive: Exclusive }
type Exclusive = <T>(work: () => Promise<T>) => Promise<T>

/** One HTTP server for the API and for git, on a port of 127.0.0.1. */
export async function startServer(state: GitHubState, routes: readonly Route[], port: number): Promise<ApiServer> {
  const connections = new Map<Socket, number>()
  let connectionsSeen = 0
  const faults = createFaults()
  const context = { state, faults, match: createMatcher(routes), exclusive: createExclusive() } as Context
  const server = createServer((request, response) => {
    answer(context, request, response, connections.get(request.socket) ?? 0).catch(error => {
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
  return { origin, links: context.links, faults, close: () => closeServer(server, connections) }
}

async function closeServer(server: Server, connections: Map<Socket, number>): Promise<void> {
  server.close()
  for (const socket of connections.keys()) socket.destroy()
  await once(server, 'close')
}

async function answer(context: Context, request: IncomingMessage, response: ServerResponse, connection: number): Promise<void> {
  const { state } = context
  const url = new URL(request.url ?? '/', 'http://simulator')
  const git = isGitRequest(request.method ?? '', url)
  const path = url.pathname.replace(/^\/api\/v3(?=\/|$)/, '')
  const match = git || path === url.pathname ? null : context.match(request.method ?? '', path)
  const credential = readCredential(state, request.headers.authorization)
  const record: RequestRecord = {
    at: state.now(),
    method: request.method ?? '',
    url: request.url ?? '',
    route: git ? `git ${git.kind}` : match ? `${match.route.method} ${match.route.path}` : null,
    auth: recordCredential(state, credential),
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
  const fault = context.faults.take({ route: record.route, method: record.method, path, auth: record.auth.kind })
  record.fault = fault?.kind ?? null
  if (fault && (await faultBefore(fault, request, response, record, state))) return
  if (git) return serveGitRequest(context, { ...git, credential, fault, record }, request, response)
  const result = await callApi(context, { match, credential, path, url, record }, request)
  record.status = result.status
  if (fault && faultAfter(fault, response, result, record)) return
  send(context, request, response, result, credential)
}

/** Answers true when the fault was the whole answer and nothing may be done. */
async function faultBefore(
  fault: Fault,
  request: IncomingMessage,
  response: ServerResponse,
  record: RequestRecord,
  state: GitHubState,
): Promise<boolean> {
  if (fault.kind === 'delay') await sleep(fault.ms)
  if (fault.kind === 'black-hole' && fault.when !== 'after') return true
  if (fault.kind === 'cut' && fault.when === 'before') {
    request.socket.destroy()
    return true
  }
  const instead = answerFault(fault, state)
  if (!instead) return false
  // The body is read first: a client that is still sending would see a reset instead of the answer.
  for await (const _ of request) void _
  record.status = instead.status
  writeAnswer(response, instead)
  return true
}

function faultAfter(fault: Fault, response: ServerResponse, result: Answer, record: RequestRecord): boolean {
  if (fault.kind === 'black-hole') return true
  if (fault.kind === 'cut') {
    response.socket?.destroy()
    return true
  }
  if (fault.kind === 'half-answer') {
    const bytes = Buffer.from(result.json === undefined ? (result.text ?? 'x'.repeat(64)) : JSON.stringify(result.json))
    response.writeHead(result.status, { 'content-type': 'application/json; charset=utf-8', 'content-length': bytes.length })
    response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => response.socket?.destroy())
    return true
  }
  if (fault.kind === 'html') {
    record.status = fault.status ?? 502
    writeAnswer(response, htmlPage(record.status))
    return true
  }
  return false
}

type ApiRequest = { match: Match | null; credential: Credential; path: string; url: URL; record: RequestRecord }

/** The whole road of an API request: agent, token, route, what the path names, permission, body, and then the row's work. */
async function callApi(context: Context, call: ApiRequest, request: IncomingMessage): Promise<Answer> {
  const { state } = context
  const bytes = await readBody(request)
  if (!bytes) return refused(413, 'Request body too large')
  const body = parseJson(bytes)
  call.record.body = body.kind === 'json' ? body.value : bytes.toString()
  if (!request.headers['user-agent'])
    return refused(403, 'Request forbidden by administrative rules. Please make sure your request has a User-Agent header.')
  if (call.credential.kind === 'bad') return refused(call.credential.status, call.credential.message)
  if (!call.match) return notFound()
  const { route, params } = call.match
  const early = checkCredential(route.permission, call.credential)
  if (early) return early
  const token = call.credential.kind === 'token' ? call.credential.token : null
  const repository = params.repo === undefined ? null : findRepository(state, `${params.owner}/${params.repo}`)
  if (params.repo !== undefined && (!repository || (call.credential.kind !== 'app' && !canSee(token, repository)))) return notFound()
  const targets = findTargets(state, repository ?? null, params)
  if (!targets) return notFound()
  const denied = checkPermission(route.permission, call.credential, targets)
  if (denied) return denied
  if (repository?.archived && route.method !== 'GET') return refused(403, 'Repository was archived so is read-only.')
  if (body.kind === 'broken') return refused(400, body.message)
  const parsed = route.schema ? route.schema.safeParse(body.value ?? {}) : null
  if (parsed && !parsed.success) return refused(422, schemaMessage(parsed.error as z.ZodError, body.value ?? {}))
  const full = {
    state,
    links: context.links,
    params,
    query: call.url.searchParams,
    accept: request.headers.accept ?? '',
    url: `${context.links.api}${call.path}`,
    token,
    actor: token?.actor ?? null,
    ...targets,
  } as unknown as Call<string>
  const work = async () => route.apply(full, (parsed ? parsed.data : null) as never)
  // Reads may run side by side; writes do not, so that "does it exist already" and "make it" are one step.
  return route.method === 'GET' ? work() : context.exclusive(work)
}

async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes <= bodyBytesMax) chunks.push(chunk)
  }
  return bytes <= bodyBytesMax ? Buffer.concat(chunks) : null
}

function parseJson(bytes: Buffer): { kind: 'json'; value: unknown } | { kind: 'broken'; message: string } {
  if (bytes.length === 0) return { kind: 'json', value: undefined }
  try {
    const value: unknown = JSON.parse(bytes.toString())
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return { kind: 'broken', message: 'Body should be a JSON object' }
    return { kind: 'json', value }
  } catch {
    return { kind: 'broken', message: 'Problems parsing JSON' }
  }
}

function checkCredential(need: Need, credential: Credential): Answer | null {
  if (need === 'public') return null
  if (credential.kind === 'none') return refused(401, 'Requires authentication')
  if (need === 'app') return credential.kind === 'app' ? null : refused(401, 'A JSON web token could not be decoded')
  // GitHub takes an App's JWT for the App's own routes and for nothing else.
  if (credential.kind === 'app') return refused(401, 'A JSON web token could not be used for this request')
  if (need === 'installation' && credential.kind === 'token' && credential.token.kind !== 'installation') return forbidden()
  return null
}

function checkPermission(need: Need, credential: Credential, targets: ReturnType<typeof findTargets>): Answer | null {
  if (typeof need === 'string' || credential.kind !== 'token' || !targets) return null
  const { token } = credential
  if (token.kind === 'installation' && token.installation.suspendedAt !== null) return refused(403, 'This installation has been suspended')
  const needs = 'anyOf' in need ? need.anyOf : [[targets.issue?.pull ? 'pull_requests' : 'issues', need.thread] as const]
  if (token.kind === 'installation') return needs.some(([name, level]) => grants(token.permissions, name, level)) ? null : forbidden()
  const { repository } = targets
  if (!repository) return null
  const role = roleOf(repository, token.actor)
  return needs.some(([name, level]) => atLeast(role, roleFor(name, level))) ? null : forbidden('Must have write access to the repository.')
}

async function serveGitRequest(
  context: Context,
  git: GitRequest & { credential: Credential; fault: Fault | null; record: RequestRecord },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const work = () => serveGit(context.state, git, request, response)
  await (git.kind === 'push' ? context.exclusive(work) : work())
}

function send(context: Context, request: IncomingMessage, response: ServerResponse, result: Answer, credential: Credential): void {
  const { state } = context
  const text = result.json === undefined ? (result.text ?? '') : JSON.stringify(result.json)
  const etag = `W/"${createHash('sha256').update(text).digest('hex')}"`
  const readable = request.method === 'GET' && result.status === 200
  const headers = { ...rateHeaders(state, credential), ...(readable ? { etag } : {}), ...result.headers }
  if (readable && request.headers['if-none-match'] === etag) writeAnswer(response, { status: 304, headers })
  else writeAnswer(response, { ...result, headers })
}

function rateHeaders(state: GitHubState, credential: Credential): Record<string, string> {
  const hour = 3_600_000
  const who = credential.kind === 'token' ? credential.token.actor.id : null
  const used = state.requests.filter(each => each.at > state.now() - hour && (who === null || each.auth.kind !== 'none')).length
  return {
    'x-ratelimit-limit': String(rateLimit),
    'x-ratelimit-remaining': String(Math.max(0, rateLimit - used)),
    'x-ratelimit-used': String(used),
    'x-ratelimit-reset': String(Math.ceil((state.now() + hour) / 1000)),
    'x-ratelimit-resource': 'core',
  }
}

function writeAnswer(response: ServerResponse, result: Answer): void {
  const text = result.json === undefined ? (result.text ?? '') : JSON.stringify(result.json)
  const empty = result.status === 204 || result.status === 304
  response.writeHead(result.status, {
    'x-github-request-id': randomUUID(),
    'x-github-media-type': 'github.v3; format=json',
    ...(empty ? {} : { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(text) }),
    ...result.headers,
  })
  response.end(empty ? undefined : text)
}

function createExclusive(): Exclusive {
  let last: Promise<unknown> = Promise.resolve()
  return work => {
    const mine = last.then(work)
    last = mine.catch(() => {})
    return mine
  }
}
