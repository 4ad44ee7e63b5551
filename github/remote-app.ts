import { request } from 'node:http'
import { RequestError } from '@octokit/request-error'
import type * as z from 'zod'
import { registerSecret } from '../telemetry/index.ts'
import { createClient, type GitHubApp } from './github-app.ts'
import { IdentityAnswer, MintAnswer } from './mint-channel.ts'
import { createWritePace } from './write-pace.ts'

export type RemoteAppOptions = {
  /** The sockets of the processes that mint, the newest first; asked again for each call. */
  sockets(): readonly string[]
  /** Proves to them who asks. */
  secret: string
  timeoutMs: number
}

/** The App as a worker sees it: tokens come from the app's process, and its key is never here. */
export function createRemoteApp({ sockets, secret, timeoutMs }: RemoteAppOptions): GitHubApp {
  let identity: Promise<z.infer<typeof IdentityAnswer>> | null = null
  let apiUrl: string | null = null
  const ask = (method: string, path: string, body?: object) => askAny(sockets(), { method, path, body, secret, timeoutMs })
  const readIdentity = () => {
    identity ??= ask('GET', '/identity').then(json => {
      const answer = IdentityAnswer.parse(json)
      apiUrl = answer.apiUrl
      return answer
    })
    identity.catch(() => {
      identity = null
    })
    return identity
  }
  return {
    async mint({ installationId, repositoryId, permissions, for: attempt }) {
      if (attempt === undefined) throw new Error('a worker asks for a token without naming its task')
      const answer = MintAnswer.parse(await ask('POST', '/token', { installationId, repositoryId, permissions, for: attempt }))
      registerSecret(answer.token, Date.parse(answer.expiresAt))
      // Whoever has a token talks to GitHub next, and must know where it is.
      await readIdentity()
      return answer
    },
    api(token) {
      if (token === null) throw new Error('a worker can not act as the App itself')
      if (apiUrl === null) throw new Error('a worker has a token and does not know where GitHub is')
      return createClient({ apiUrl, timeoutMs }, token)
    },
    identity: readIdentity,
    pace: createWritePace(),
  }
}

type Ask = { method: string; path: string; body?: object | undefined; secret: string; timeoutMs: number }

/** The first that answers: a process that was killed leaves its socket behind. */
async function askAny(sockets: readonly string[], ask: Ask): Promise<unknown> {
  let last: unknown = new Error('no process of the app is running: start `grokbot app`')
  for (const socketPath of sockets) {
    try {
      return await askOne(socketPath, ask)
    } catch (error) {
      if (error instanceof RequestError) throw error
      last = error
    }
  }
  throw away(ask.path, last)
}

async function askOne(socketPath: string, { method, path, body, secret, timeoutMs }: Ask): Promise<unknown> {
  const { status, headers, text } = await new Promise<{ status: number; headers: Record<string, unknown>; text: string }>(
    (resolve, reject) => {
      const sent = request(
        {
          socketPath,
          method,
          path,
          headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
          signal: AbortSignal.timeout(timeoutMs),
        },
        response => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () => {
            if (!response.complete) return reject(new Error('the answer of the app was cut off'))
            resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString('utf8') })
          })
        },
      )
      sent.on('error', reject)
      sent.end(body === undefined ? undefined : JSON.stringify(body))
    },
  )
  const json: unknown = JSON.parse(text)
  if (status === 200) return json
  throw refusal(status, headers, json, path)
}

/** As Octokit throws what got no answer: it is worth waiting for. */
function away(path: string, cause: unknown): RequestError {
  const error = new RequestError('no token: the app can not be reached; is `grokbot app` running?', 503, {
    request: { method: 'POST', url: path, headers: {} },
  })
  error.cause = cause
  return error
}

/** As Octokit would have thrown it, so that `classifyError` says the same of it. */
function refusal(status: number, headers: Record<string, unknown>, data: unknown, path: string): RequestError {
  const message = typeof data === 'object' && data !== null && 'message' in data ? String(data.message) : `the app answered ${status}`
  return new RequestError(message, status, {
    request: { method: 'POST', url: path, headers: {} },
    response: { status, url: path, headers: headers as Record<string, string>, data },
  })
}
