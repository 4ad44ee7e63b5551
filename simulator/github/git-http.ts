import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Credential } from './credential.ts'
import type { Fault } from './fault.ts'
import { atLeast, canSee, grants, roleOf } from './permission.ts'
import { hooksFolder, pushRules } from './push-rules.ts'
import { rewriteReport } from './report-status.ts'
import { gitEnvironment } from './repository-git.ts'
import type { Context } from './server.ts'
import { findRepository, fullName, type Repository, type RequestRecord } from './state.ts'
import { syncPulls } from './sync-pulls.ts'

/** Largest answer to a push, in bytes: only reports and hook texts. */
const pushAnswerBytesMax = 4 * 1024 * 1024

type GitKind = 'fetch' | 'fetch refs' | 'push' | 'push refs'
export type GitRequest = { kind: GitKind; owner: string; name: string; service: string; query: string }
type Accepted = GitRequest & { credential: Credential; fault: Fault | null; record: RequestRecord }

const pattern = /^\/([^/]+)\/([^/]+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/

export function isGitRequest(method: string, url: URL): GitRequest | null {
  const found = pattern.exec(url.pathname)
  const [, owner = '', name = '', service = ''] = found ?? []
  if (!found || owner === 'api') return null
  const asked = url.searchParams.get('service')
  if (method === 'GET' && service === 'info/refs' && (asked === 'git-upload-pack' || asked === 'git-receive-pack')) {
    return { kind: asked === 'git-upload-pack' ? 'fetch refs' : 'push refs', owner, name, service, query: url.search.slice(1) }
  }
  if (method !== 'POST' || service === 'info/refs') return null
  return { kind: service === 'git-upload-pack' ? 'fetch' : 'push', owner, name, service, query: '' }
}

/** Smart HTTP on the real bare repository, by git's own `http-backend`, behind GitHub's checks of who may do what. */
export async function serveGit(context: Context, git: Accepted, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const repository = findRepository(context.state, `${git.owner}/${git.name}`)
  const moved = repository ? undefined : context.state.renamed.get(`${git.owner}/${git.name}`.toLowerCase())
  if (moved) {
    git.record.status = 301
    response.writeHead(301, {
      location: `${context.links.web}/${fullName(moved)}.git/${git.service}${git.query === '' ? '' : `?${git.query}`}`,
    })
    response.end()
    return
  }
  const refusal = authorise(git, repository)
  if (refusal || !repository) {
    for await (const _ of request) void _
    const { status, text } = refusal ?? { status: 404, text: 'Repository not found.' }
    git.record.status = status
    response.writeHead(status, {
      'content-type': 'text/plain; charset=utf-8',
      ...(status === 401 ? { 'www-authenticate': 'Basic realm="GitHub"' } : {}),
    })
    response.end(text)
    return
  }
  if (git.kind === 'push') await receivePack(context, git, repository, request, response)
  else await streamBackend(git, repository, request, response)
}

function authorise(git: Accepted, repository: Repository | undefined): { status: number; text: string } | null {
  const { credential } = git
  const writes = git.kind.startsWith('push')
  if (credential.kind === 'bad' || credential.kind === 'app') {
    return { status: 401, text: 'Invalid username or token. Password authentication is not supported for Git operations.' }
  }
  const token = credential.kind === 'token' ? credential.token : null
  // An anonymous caller is asked for credentials whether the repository exists or not.
  if (!token) return repository && !repository.private && !writes ? null : { status: 401, text: 'Repository not found.' }
  if (!repository || !canSee(token, repository)) return { status: 404, text: 'Repository not found.' }
  if (token.kind === 'installation' && token.installation.suspendedAt !== null)
    return { status: 403, text: 'This installation has been suspended.' }
  const may =
    token.kind === 'installation'
      ? grants(token.permissions, 'contents', writes ? 'write' : 'read')
      : atLeast(roleOf(repository, token.actor), writes ? 'write' : 'read')
  if (!may) return { status: 403, text: `Permission to ${fullName(repository)}.git denied to ${token.actor.login}.` }
  if (writes && repository.archived) return { status: 403, text: 'This repository was archived so it is read-only.' }
  return null
}

function startBackend(git: Accepted, repository: Repository, request: IncomingMessage, env: Record<string, string>) {
  const header = (name: string) => request.headers[name]
  const child = spawn('git', ['http-backend'], {
    cwd: repository.folder,
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {
      ...gitEnvironment(repository.folder),
      GIT_PROJECT_ROOT: repository.folder,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: `/${git.service}`,
      QUERY_STRING: git.query,
      REQUEST_METHOD: request.method ?? 'GET',
      REMOTE_USER: git.record.auth.kind,
      REMOTE_ADDR: '127.0.0.1',
      CONTENT_TYPE: String(header('content-type') ?? ''),
      ...(header('content-length') ? { CONTENT_LENGTH: String(header('content-length')) } : {}),
      ...(header('content-encoding') ? { HTTP_CONTENT_ENCODING: String(header('content-encoding')) } : {}),
      ...(header('git-protocol') ? { GIT_PROTOCOL: String(header('git-protocol')) } : {}),
      ...env,
    },
  })
  // The backend may answer before it has read everything.
  child.stdin.on('error', () => {})
  request.pipe(child.stdin)
  // A client that goes away in the middle ends its backend; otherwise it would wait for the rest for ever.
  request.on('close', () => {
    if (!request.complete) child.kill()
  })
  return child
}

async function streamBackend(git: Accepted, repository: Repository, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const child = startBackend(git, repository, request, {})
  response.on('close', () => child.kill())
  let head: Buffer | null = Buffer.alloc(0)
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    let body = chunk
    if (head) {
      head = Buffer.concat([head, chunk])
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) continue
      const { status, headers } = parseCgiHead(head.subarray(0, end).toString())
      body = head.subarray(end + 4)
      head = null
      git.record.status = status
      if (breaksAnswer(git.fault)) return breakOff(git.fault, response, status, headers, body)
      response.writeHead(status, headers)
    }
    if (body.length > 0 && !response.write(body)) await drained(response)
    if (response.destroyed) return
  }
  if (head) response.writeHead(500)
  response.end()
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise(resolve => {
    const done = () => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.on('drain', done).on('close', done)
  })
}

function breaksAnswer(fault: Fault | null): boolean {
  return fault?.kind === 'cut' || fault?.kind === 'half-answer' || fault?.kind === 'black-hole' || fault?.kind === 'html'
}

/** The work is done by now; what is broken is only the way back. */
function breakOff(fault: Fault | null, response: ServerResponse, status: number, headers: Record<string, string>, body: Buffer): void {
  if (fault?.kind === 'black-hole') return
  if (fault?.kind === 'html') {
    response.writeHead(fault.status ?? 502, { 'content-type': 'text/html' })
    response.end('<html><head><title>502 Bad Gateway</title></head></html>\r\n')
    return
  }
  if (fault?.kind === 'cut') {
    response.socket?.destroy()
    return
  }
  response.writeHead(status, headers)
  response.write(body.subarray(0, Math.ceil(body.length / 2)), () => response.socket?.destroy())
}

/** A push is let through whole, then the refs are read again: the pull requests of moved branches follow. */
async function receivePack(
  context: Context,
  git: Accepted,
  repository: Repository,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'fake-push-'))
  const reasons = join(scratch, 'reasons')
  const token = git.credential.kind === 'token' ? git.credential.token : null
  const env = {
    ...pushRules(repository, token, git.fault, context.links.web),
    FAKE_REASONS: reasons,
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'core.hooksPath',
    GIT_CONFIG_VALUE_0: hooksFolder(repository.folder),
  }
  try {
    const child = startBackend(git, repository, request, env)
    const output: Buffer[] = []
    let bytes = 0
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes <= pushAnswerBytesMax) output.push(chunk)
    }
    await context.exclusive(() => syncPulls(context.state, repository, token?.actor ?? null))
    const whole = Buffer.concat(output)
    const end = whole.indexOf('\r\n\r\n')
    const { status, headers } = parseCgiHead(whole.subarray(0, Math.max(end, 0)).toString())
    const body = rewriteReport(whole.subarray(end + 4), parseReasons(await readFile(reasons, 'utf8').catch(() => '')))
    git.record.status = status
    if (breaksAnswer(git.fault)) return breakOff(git.fault, response, status, headers, body)
    response.writeHead(status, { ...headers, 'content-length': body.length })
    response.end(body)
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

/** Lines of `<ref> TAB <reason>`, written by the update hook for each ref it declined. */
function parseReasons(text: string): Map<string, string> {
  const lines = text.split('\n').filter(line => line.includes('\t'))
  return new Map(lines.map(line => [line.slice(0, line.indexOf('\t')), line.slice(line.indexOf('\t') + 1)]))
}

function parseCgiHead(head: string): { status: number; headers: Record<string, string> } {
  const headers: Record<string, string> = {}
  for (const line of head.split('\r\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim()
  }
  const { status, ...rest } = headers
  return { status: status ? Number.parseInt(status, 10) : 200, headers: rest }
}
