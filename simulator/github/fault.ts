import type { AuthRecord } from './state.ts'

/** What goes wrong with a request. All of it is what GitHub, or the network before it, has really been seen to do. */
export type Fault =
  /** GitHub's usual error body for this status, or the one given. Nothing is done. */
  | { kind: 'status'; status: number; message?: string; body?: unknown; headers?: Record<string, string> }
  /** The load balancer's page: `text/html`, no JSON. `done` says that the request took effect all the same. */
  | { kind: 'html'; status?: 500 | 502 | 503 | 504; done?: boolean }
  | { kind: 'secondary-limit'; status?: 403 | 429; retryAfterSeconds?: number | null }
  | { kind: 'primary-limit'; resetInSeconds?: number }
  /** The connection is closed without an answer, before or after the server did it. */
  | { kind: 'cut'; when: 'before' | 'after' }
  /** Done, but the answer ends in the middle. */
  | { kind: 'half-answer' }
  /** Said to be done, and not kept: an edit lost in replication. */
  | { kind: 'lost' }
  /** The answer comes in pieces of 64 bytes. */
  | { kind: 'trickle'; everyMs: number }
  | { kind: 'delay'; ms: number }
  /** No answer ever; the connection stays open. */
  | { kind: 'black-hole'; when?: 'before' | 'after' }
  /** For pushes: git talks, the server declines the update with one of its known texts. */
  | { kind: 'decline'; reason: DeclineReason; message?: string }

type DeclineReason = 'protected' | 'workflows' | 'rules' | 'secret' | 'large-file' | 'other'

/** Which requests a fault meets: all parts that are given must fit. */
type FaultMatch = {
  /** A row such as `POST /repos/{owner}/{repo}/pulls`, or `git push`, `git fetch`. */
  route?: string
  method?: string
  path?: RegExp
  auth?: AuthRecord['kind']
}

export type FaultRule = FaultMatch & {
  fault: Fault
  /** How many requests it meets; 1 when not said. */
  times?: number
  /** How many matching requests pass first. */
  skip?: number
}

export type FaultHandle = { hits(): number; clear(): void }

export type Faults = {
  add(rule: FaultRule): FaultHandle
  /** The fault for this request, used up by asking. */
  take(request: { route: string | null; method: string; path: string; auth: AuthRecord['kind'] }): Fault | null
  clear(): void
}

export function createFaults(): Faults {
  let rules: { rule: FaultRule; skip: number; left: number; hits: number }[] = []
  return {
    add(rule) {
      const entry = { rule, skip: rule.skip ?? 0, left: rule.times ?? 1, hits: 0 }
      rules.push(entry)
      return {
        hits: () => entry.hits,
        clear: () => {
          rules = rules.filter(each => each !== entry)
        },
      }
    },
    take(request) {
      for (const entry of rules) {
        if (entry.left === 0 || !fits(entry.rule, request)) continue
        if (entry.skip > 0) {
          entry.skip -= 1
          continue
        }
        entry.left -= 1
        entry.hits += 1
        return entry.rule.fault
      }
      return null
    },
    clear() {
      rules = []
    },
  }
}

function fits(rule: FaultMatch, request: { route: string | null; method: string; path: string; auth: string }): boolean {
  if (rule.route !== undefined && rule.route !== request.route) return false
  if (rule.method !== undefined && rule.method !== request.method) return false
  if (rule.path !== undefined && !rule.path.test(request.path)) return false
  return rule.auth === undefined || rule.auth === request.auth
}
