import type { OutgoingHttpHeaders } from 'node:http'

/** What a route says back. `json: undefined` and no text means an empty body. */
export type Answer = { status: number; json?: unknown; text?: string | Buffer; headers?: OutgoingHttpHeaders }

/** One entry of GitHub's documented `errors` array. */
export type FieldError = { resource: string; code: string; field?: string; message?: string; value?: unknown }

const docs = 'https://docs.github.com/rest'

export function ok(json: unknown, headers: OutgoingHttpHeaders = {}): Answer {
  return { status: 200, json, headers }
}

export function created(json: unknown, headers: OutgoingHttpHeaders = {}): Answer {
  return { status: 201, json, headers }
}

export function noContent(): Answer {
  return { status: 204 }
}

export function refused(status: number, message: string, documentation = docs): Answer {
  return { status, json: { message, documentation_url: documentation, status: String(status) } }
}

export function notFound(): Answer {
  return refused(404, 'Not Found')
}

export function forbidden(message = 'Resource not accessible by integration'): Answer {
  return refused(403, message)
}

export function invalid(...errors: FieldError[]): Answer {
  return { status: 422, json: { message: 'Validation Failed', errors, documentation_url: docs, status: '422' } }
}

/** GitHub's other shape of a 422: the errors are sentences. */
export function unprocessable(...errors: string[]): Answer {
  return { status: 422, json: { message: 'Unprocessable Entity', errors, documentation_url: docs, status: '422' } }
}
