import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { classifyError, type GitHubApp, MintCall, passedHeaders } from '../github/index.ts'
import type { Ledger } from '../ledger/index.ts'
import type { Logger } from '../telemetry/index.ts'
import { decideMint } from './decide-mint.ts'
import { isSameText } from './is-same-text.ts'
import { appLimits } from './limits.ts'
import { readAccepted } from './read-accepted.ts'

export type MintPorts = {
  github: GitHubApp
  apiUrl: string
  ledger: Pick<Ledger, 'readEvents' | 'task' | 'holdsTask'>
  /** How long an effect is tried. */
  limits(): { effectGiveUpMs: number }
  now(): number
  logger: Logger
}

/**
 * The mint of the process that holds the App's key, for workers that do not: each token is for a task the worker holds, and
 * for no more than that task needs. Whatever is not understood is refused.
 */
export function createMintServer(secret: string, ports: MintPorts): Server {
  return createServer((request, response) => {
    answer(request, secret, ports).then(
      given => reply(response, given),
      error => {
        ports.logger.error({ error }, 'a token could not be made')
        reply(response, failure(error))
      },
    )
  })
}

type Given = { status: number; json: object; headers?: Record<string, string> }

async function answer(request: IncomingMessage, secret: string, ports: MintPorts): Promise<Given> {
  if (!isSameText(request.headers.authorization ?? '', `Bearer ${secret}`))
    return { status: 401, json: { message: 'the secret of this installation is missing' } }
  const call = `${request.method} ${request.url}`
  if (call === 'GET /identity') return { status: 200, json: { ...(await ports.github.identity()), apiUrl: ports.apiUrl } }
  if (call !== 'POST /token') return { status: 404, json: { message: 'POST /token and GET /identity are all there is' } }
  const read = MintCall.safeParse(await readJson(request))
  if (!read.success)
    return { status: 422, json: { message: `the call: ${read.error.issues[0]?.path.join('.')} ${read.error.issues[0]?.message}` } }
  const decision = decideMint(read.data, await gatherMintFacts(read.data, ports))
  if (decision.kind !== 'granted') {
    const { kind, reason } = decision
    ports.logger.warn({ task: read.data.for.taskId, attempt: read.data.for.attempt, kind, reason }, 'a token was not made')
    return { status: kind === 'refused' ? 403 : 503, json: { message: reason } }
  }
  return { status: 200, json: await ports.github.mint(read.data) }
}

async function gatherMintFacts({ for: { taskId, attempt } }: MintCall, { ledger, limits, now }: MintPorts) {
  const row = await ledger.task(taskId)
  const lateAt = (row?.endedAt ?? now()) + limits().effectGiveUpMs + appLimits.mintAfterEndMs
  return {
    accepted: row ? await readAccepted(taskId, ledger) : null,
    newestAttempt: row?.attempts ?? 0,
    holds: await ledger.holdsTask({ taskId, attempt }, now()),
    hasEnded: row?.state === 'ended',
    endedLongAgo: now() > lateAt,
  }
}

/** GitHub's own refusal is passed on as it is; anything else is ours, and may help when asked again. */
function failure(error: unknown): Given {
  const fault = classifyError(error)
  const response = (error as { response?: { status: number; headers: Record<string, unknown>; data: unknown } }).response
  if (!response || fault.kind === 'uncertain') return { status: 503, json: { message: fault.message } }
  const headers = Object.fromEntries(
    passedHeaders.flatMap(name => (response.headers[name] === undefined ? [] : [[name, String(response.headers[name])]])),
  )
  const json = typeof response.data === 'object' && response.data !== null ? response.data : { message: fault.message }
  return { status: response.status, json, headers }
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > appLimits.mintCallBytesMax) return null
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch {
    // What is no JSON is no call, and is refused as one that does not fit.
    return null
  }
}

function reply(response: ServerResponse, { status, json, headers }: Given) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(json))
}
