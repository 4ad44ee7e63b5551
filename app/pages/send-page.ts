import type { ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import { pagesLimits } from './limits.ts'
import { discard, type PageAnswer } from './page-answer.ts'

/** Sends the answer of a page, without its body to who asked for its head only. A reader that goes away ends it. */
export function sendPage(response: ServerResponse, answer: PageAnswer): void {
  const { status, headers, body } = answer
  response.setTimeout(pagesLimits.pageIdleMs, () => response.destroy())
  response.writeHead(status, headers)
  if (response.req.method === 'HEAD') {
    discard(answer)
    response.end()
  } else if (Buffer.isBuffer(body)) response.end(body)
  // A stream that breaks closes the connection before the announced length: no reader takes that for a whole file.
  else pipeline(body, response, () => undefined)
}
