import type { Answer } from './answer.ts'
import { bodyOf } from './respond.ts'
import type { Match } from './route.ts'
import type { RequestRecord } from './state.ts'

/**
 * One request that met a row, and what the fake says to it. A fault that was asked for is none of GitHub's answers and is
 * not shown here.
 */
export type Exchange = {
  method: string
  /** The row's path, such as `/repos/{owner}/{repo}/pulls`. */
  path: string
  params: Record<string, string>
  query: URLSearchParams
  /** Undefined without one; the text when it is no JSON. */
  body: unknown
  status: number
  /** As a reader of the wire gets it. */
  answer: { kind: 'json'; value: unknown } | { kind: 'text' } | { kind: 'empty' }
}

export type Observe = (exchange: Exchange) => void

export function exchangeOf({ route, params }: Match, url: URL, { body }: RequestRecord, result: Answer): Exchange {
  return { method: route.method, path: route.path, params, query: url.searchParams, body, status: result.status, answer: shown(result) }
}

function shown(result: Answer): Exchange['answer'] {
  if (result.json !== undefined) return { kind: 'json', value: JSON.parse(bodyOf(result).toString()) }
  return result.text === undefined ? { kind: 'empty' } : { kind: 'text' }
}
