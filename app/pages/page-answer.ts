import type { Readable } from 'node:stream'
import { bytesOf, type Html, html } from './html.ts'
import type { KeptFile } from './open-kept-file.ts'
import { styleElement, styleHash } from './style.ts'

/** What is to be sent. A stream is read to its end or destroyed by whoever sends it. */
export type PageAnswer = { status: number; headers: Record<string, string>; body: Buffer | Readable }

/** On every answer, whatever it is: nothing runs, nothing is loaded, nothing is kept, nothing is told to where a link leads. */
const commonHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex, nofollow',
  'cross-origin-resource-policy': 'same-origin',
}
const strictest = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
const policy = `${strictest}; style-src '${styleHash}'`
const notKept = 'private, no-store'

export type Document = { title: string; body: Html }

export function pageAnswer(status: number, document: Document, headers: Record<string, string> = {}): PageAnswer {
  const body = bytesOf(documentOf(document))
  return bufferAnswer(status, body, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy, ...headers })
}

/** A file for keeping: never shown in the place of a page, whatever is in it. */
export function fileAnswer({ bytes, stream }: KeptFile, contentType: string, name: string): PageAnswer {
  const headers = {
    ...commonHeaders,
    'content-type': contentType,
    'content-length': String(bytes),
    'content-disposition': `attachment; filename="${name}"`,
    'content-security-policy': strictest,
    'cache-control': notKept,
  }
  return { status: 200, headers, body: stream }
}

export function jsonAnswer(value: unknown, cacheControl: string): PageAnswer {
  return bufferAnswer(200, Buffer.from(`${JSON.stringify(value, null, 2)}\n`, 'utf8'), {
    'content-type': 'application/json; charset=utf-8',
    'content-security-policy': strictest,
    'cache-control': cacheControl,
  })
}

/** The one answer for no task, no key, a wrong one and one that is over: what is asked for in vain tells nothing. */
export function notFound(): PageAnswer {
  return pageAnswer(404, {
    title: 'not found',
    body: html`<main><h1>There is nothing here</h1>
<p>The link is not complete, it has expired, or there never was such a page. The thread in which the command was given, and the pull request, say how it ended.</p></main>`,
  })
}

export function tryLater(words: string, seconds: number): PageAnswer {
  const body = html`<main><h1>This can not be shown now</h1>
<p>${words} Try again in ${seconds} seconds.</p></main>`
  return pageAnswer(503, { title: 'try again', body }, { 'retry-after': String(seconds) })
}

/** For an answer that nobody will read. */
export function discard({ body }: PageAnswer): void {
  if (!Buffer.isBuffer(body)) body.destroy()
}

function bufferAnswer(status: number, body: Buffer, headers: Record<string, string>): PageAnswer {
  return {
    status,
    headers: { ...commonHeaders, 'cache-control': notKept, 'content-length': String(body.byteLength), ...headers },
    body,
  }
}

function documentOf({ title, body }: Document): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
${styleElement}
</head>
<body>
${body}
</body>
</html>
`
}
