import type { IncomingMessage } from 'node:http'
import type * as z from 'zod'
import { type Answer, forbidden, notFound, refused } from './answer.ts'
import type { Credential } from './credential.ts'
import { atLeast, canSee, grants, roleFor, roleOf } from './permission.ts'
import { refuseHere } from './refuse-here.ts'
import { rememberTargets } from './remember-targets.ts'
import type { Call, Match, Need } from './route.ts'
import { schemaMessage } from './schema-message.ts'
import type { Context } from './server.ts'
import { findRepository, type Repository, type RequestRecord } from './state.ts'
import { findTargets, type Targets } from './target.ts'

/** GitHub takes no larger request body, in bytes. */
const bodyBytesMax = 25 * 1024 * 1024

export type ApiRequest = {
  match: Match | null
  credential: Credential
  path: string
  url: URL
  record: RequestRecord
  /** Answer as if the change was made, and keep the old state. */
  loseEdit: boolean
}

/** The whole road of an API request: agent, token, route, what the path names, permission, body, and then the row's work. */
export async function callApi(context: Context, call: ApiRequest, request: IncomingMessage): Promise<Answer> {
  const { state } = context
  const { credential } = call
  const bytes = await readBody(request)
  if (!bytes) return refused(413, 'Request body too large')
  const body = parseJson(bytes)
  call.record.body = body.kind === 'json' ? body.value : bytes.toString()
  if (!request.headers['user-agent']) return refused(403, agentMissing)
  if (credential.kind === 'bad') return refused(credential.status, credential.message)
  if (!call.match) return notFound()
  const { route, params } = call.match
  const moved = findMoved(context, call)
  if (moved) return moved
  const early = checkCredential(route.permission, credential)
  if (early) return early
  const repository = params.repo === undefined ? null : (findRepository(state, `${params.owner}/${params.repo}`) ?? null)
  if (params.repo !== undefined && !(repository && isVisible(credential, repository))) return notFound()
  const targets = findTargets(route.path, repository, params)
  if (!targets) return notFound()
  const denied = checkPermission(route.permission, credential, targets)
  if (denied) return denied
  const actor = credential.kind === 'token' ? credential.token.actor : null
  const stopped = refuseHere(state, targets, { method: route.method, actor })
  if (stopped) return stopped
  if (body.kind === 'broken') return refused(400, body.message)
  const parsed = route.schema ? route.schema.safeParse(body.value ?? {}) : null
  if (parsed && !parsed.success) return refused(422, schemaMessage(parsed.error as z.ZodError, body.value ?? {}))
  const full = fullCall(context, call, request, targets)
  const work = async () => {
    const forget = call.loseEdit ? rememberTargets(targets) : null
    const answer = await route.apply(full, (parsed ? parsed.data : null) as never)
    forget?.()
    return answer
  }
  return route.method === 'GET' ? work() : context.exclusive(work)
}

const agentMissing = 'Request forbidden by administrative rules. Please make sure your request has a User-Agent header.'

function fullCall(context: Context, call: ApiRequest, request: IncomingMessage, targets: Targets): Call<string> {
  const token = call.credential.kind === 'token' ? call.credential.token : null
  return {
    state: context.state,
    links: context.links,
    params: call.match?.params ?? {},
    query: call.url.searchParams,
    accept: request.headers.accept ?? '',
    attempt: request.headers['x-grokbot-attempt'] ?? null,
    url: `${context.links.api}${call.path}`,
    token,
    actor: token?.actor ?? null,
    ...targets,
    // Which targets there are depends on the row's path; `route` ties the two together.
  } as unknown as Call<string>
}

/** A renamed repository: reads are redirected for good (301), other methods by 307, as GitHub does. */
function findMoved({ state, links }: Context, { match, url, path }: ApiRequest): Answer | null {
  const { owner, repo } = match?.params ?? {}
  const repository = repo === undefined ? undefined : state.renamed.get(`${owner}/${repo}`.toLowerCase())
  if (!repository || findRepository(state, `${owner}/${repo}`)) return null
  const rest = path.split('/').slice(4).join('/')
  const location = `${links.api}/repositories/${repository.id}${rest === '' ? '' : `/${rest}`}${url.search}`
  const status = match?.route.method === 'GET' ? 301 : 307
  const json = { message: 'Moved Permanently', url: location, documentation_url: 'https://docs.github.com/rest' }
  return { status, json, headers: { location } }
}

function isVisible(credential: Credential, repository: Repository): boolean {
  // The App's own routes name repositories it may not be installed on; they look themselves.
  return credential.kind === 'app' || canSee(credential.kind === 'token' ? credential.token : null, repository)
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
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? { kind: 'json', value } : { kind: 'broken', message: 'Body should be a JSON object' }
  } catch {
    return { kind: 'broken', message: 'Problems parsing JSON' }
  }
}

function checkCredential(need: Need, credential: Credential): Answer | null {
  if (need === 'app') return credential.kind === 'app' ? null : refused(401, 'A JSON web token could not be decoded')
  // GitHub takes an App's JWT for the App's own routes and for nothing else.
  if (credential.kind === 'app') return refused(401, 'A JSON web token could not be used for this request')
  if (credential.kind === 'token' && credential.token.kind === 'installation' && credential.token.installation.suspendedAt !== null) {
    return refused(403, 'This installation has been suspended')
  }
  if (need === 'public') return null
  if (credential.kind === 'none') return refused(401, 'Requires authentication')
  return need === 'installation' && credential.kind === 'token' && credential.token.kind !== 'installation' ? forbidden() : null
}

function checkPermission(need: Need, credential: Credential, targets: Targets): Answer | null {
  if (typeof need === 'string' || credential.kind !== 'token') return null
  const { token } = credential
  const needs = 'anyOf' in need ? need.anyOf : [[targets.issue?.pull ? 'pull_requests' : 'issues', need.thread] as const]
  if (token.kind === 'installation') return needs.some(([name, level]) => grants(token.permissions, name, level)) ? null : forbidden()
  const { repository } = targets
  if (!repository) return null
  const role = roleOf(repository, token.actor)
  return needs.some(([name, level]) => atLeast(role, roleFor(name, level))) ? null : forbidden('Must have write access to the repository.')
}
