import { createHash, randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Answer } from './answer.ts'
import type { Credential } from './credential.ts'
import type { GitHubState } from './state.ts'

/** Requests an hour and actor. */
const rateLimit = 5000
const hourMs = 3_600_000

/** Writes the answer with GitHub's headers; a reader that has this version already is told 304. */
export function respond(
  state: GitHubState,
  request: IncomingMessage,
  response: ServerResponse,
  result: Answer,
  credential: Credential,
): void {
  const etag = `W/"${createHash('sha256').update(bodyOf(result)).digest('hex')}"`
  const readable = request.method === 'GET' && result.status === 200
  const headers = { ...rateHeaders(state, credential), ...(readable ? { etag } : {}), ...result.headers }
  if (readable && request.headers['if-none-match'] === etag) writeAnswer(response, { status: 304, headers })
  else writeAnswer(response, { ...result, headers })
}

export function bodyOf(result: Answer): string | Buffer {
  return result.json === undefined ? (result.text ?? '') : JSON.stringify(result.json)
}

export function writeAnswer(response: ServerResponse, result: Answer): void {
  const body = bodyOf(result)
  const empty = result.status === 204 || result.status === 304
  response.writeHead(result.status, {
    'x-github-request-id': randomUUID(),
    'x-github-media-type': 'github.v3; format=json',
    ...(empty ? {} : { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(body) }),
    ...result.headers,
  })
  response.end(empty ? undefined : body)
}

/** Counted an hour from the first request, as GitHub's windows are. */
function rateHeaders(state: GitHubState, credential: Credential): Record<string, string> {
  const key = credential.kind === 'token' ? credential.token.actor.id : 0
  const now = state.now()
  const present = state.usage.get(key)
  const window = present && present.since > now - hourMs ? present : { since: now, used: 0 }
  window.used += 1
  state.usage.set(key, window)
  return {
    'x-ratelimit-limit': String(rateLimit),
    'x-ratelimit-remaining': String(Math.max(0, rateLimit - window.used)),
    'x-ratelimit-used': String(window.used),
    'x-ratelimit-reset': String(Math.ceil((window.since + hourMs) / 1000)),
    'x-ratelimit-resource': 'core',
  }
}
