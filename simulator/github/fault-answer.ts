import { type Answer, refused } from './answer.ts'
import type { Fault } from './fault.ts'
import type { GitHubState } from './state.ts'

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
export function answerFault(fault: Fault, state: GitHubState): Answer | null {
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
      const answer = refused(403, 'API rate limit exceeded for installation ID 1.')
      return { ...answer, headers: { 'x-ratelimit-limit': '5000', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(reset) } }
    }
    default:
      return null
  }
}

export function htmlPage(status: number): Answer {
  const text = `<html>\r\n<head><title>${status} Bad Gateway</title></head>\r\n<body>\r\n<center><h1>${status}</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n`
  return { status, text, headers: { 'content-type': 'text/html' } }
}
