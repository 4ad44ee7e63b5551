import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, refused } from './answer.ts'
import type { Fault } from './fault.ts'
import { bodyOf, writeAnswer } from './respond.ts'
import type { GitHubState, RequestRecord } from './state.ts'

/** Bytes of one write of a trickling answer. */
const trickleBytes = 64

/** Answers true when the fault was the whole answer and nothing may be done. */
export async function faultBefore(
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
  const instead = answerInstead(fault, state, record.route)
  if (!instead) return false
  // The body is read first: a client that is still sending would see a reset instead of the answer.
  for await (const _ of request) void _
  record.status = instead.status
  writeAnswer(response, instead)
  return true
}

/** Answers true when the work was done and the fault took care of what is, or is not, said about it. */
export async function faultAfter(fault: Fault, response: ServerResponse, result: Answer, record: RequestRecord): Promise<boolean> {
  switch (fault.kind) {
    case 'black-hole':
      return true
    case 'cut':
      response.socket?.destroy()
      return true
    case 'half-answer':
      writeHalf(response, result)
      return true
    case 'trickle':
      await trickle(response, result, fault.everyMs)
      return true
    case 'html':
      record.status = fault.status ?? 502
      writeAnswer(response, htmlPage(record.status))
      return true
    default:
      return false
  }
}

function writeHalf(response: ServerResponse, result: Answer): void {
  // An answer without a body has nothing to break off; its head promises one then.
  const bytes = result.json === undefined && !result.text ? Buffer.alloc(64, ' ') : Buffer.from(bodyOf(result))
  response.writeHead(result.status === 204 ? 200 : result.status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': bytes.length,
  })
  response.write(bytes.subarray(0, bytes.length >> 1), () => response.socket?.destroy())
}

async function trickle(response: ServerResponse, result: Answer, everyMs: number): Promise<void> {
  const bytes = Buffer.from(bodyOf(result))
  response.writeHead(result.status, { 'content-type': 'application/json; charset=utf-8', 'content-length': bytes.length })
  for (let at = 0; at < bytes.length && !response.destroyed; at += trickleBytes) {
    response.write(bytes.subarray(at, at + trickleBytes))
    await sleep(everyMs)
  }
  response.end()
}

const messages: Record<number, string> = {
  401: 'Bad credentials',
  403: 'Resource not accessible by integration',
  404: 'Not Found',
  409: 'Conflict',
  410: 'Issues has been disabled in this repository.',
  422: 'Validation Failed',
  451: 'Repository access blocked',
  500: 'Server Error',
  503: 'Service Unavailable',
}

const secondaryText =
  'You have exceeded a secondary rate limit. Please wait a few minutes before you try again. For more on scraping GitHub and how it may affect your rights, please review our Terms of Service'

/** The answer a fault gives instead of doing anything; null for faults that let the request through. */
function answerInstead(fault: Fault, state: GitHubState, route: string | null): Answer | null {
  switch (fault.kind) {
    case 'status': {
      const usual = refused(fault.status, fault.message ?? messages[fault.status] ?? 'Error')
      return { status: fault.status, json: fault.body ?? usual.json, headers: fault.headers ?? {} }
    }
    case 'html':
      return fault.done ? null : htmlPage(fault.status ?? 502)
    case 'secondary-limit': {
      const seconds = fault.retryAfterSeconds === undefined ? 60 : fault.retryAfterSeconds
      const answer = refused(fault.status ?? 403, secondaryText)
      return { ...answer, headers: seconds === null ? {} : { 'retry-after': String(seconds) } }
    }
    case 'primary-limit': {
      const reset = Math.ceil(state.now() / 1000) + (fault.resetInSeconds ?? 60)
      const message = 'API rate limit exceeded for installation ID 1.'
      // GraphQL says so within an answer that is 200.
      const asGraphql = { status: 200, json: { errors: [{ type: 'RATE_LIMITED', message }] } }
      const answer = route === 'POST /graphql' ? asGraphql : refused(403, message)
      return { ...answer, headers: { 'x-ratelimit-limit': '5000', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(reset) } }
    }
    default:
      return null
  }
}

const reasonPhrases: Record<number, string> = {
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Time-out',
}

function htmlPage(status: number): Answer {
  const title = `${status} ${reasonPhrases[status] ?? 'Error'}`
  const text = `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<center><h1>${title}</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n`
  return { status, text, headers: { 'content-type': 'text/html' } }
}
