import { subscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import { type FakeModel, startFakeModel } from '../simulator/index.ts'

export type WatchedModel = {
  model: FakeModel
  /** Forgets what was seen so far. */
  clear(): void
  /** When each request came in, in `performance.now()`. */
  arrivals(): readonly number[]
  /** Milliseconds from the end of each answer to the next request: what the other side spends on one turn. */
  gaps(): number[]
  /** Resolves when so many requests have come in. */
  reached(count: number): Promise<void>
}

/**
 * The simulator's model, with the moments Node's own server reports: the simulator's clock has milliseconds, which is as
 * much as a turn lasts.
 */
export async function watchModel(): Promise<WatchedModel> {
  const model = await startFakeModel({ chunking: 'whole' })
  let arrivals: number[] = []
  let ends: number[] = []
  let waiting: { count: number; resolve(): void } | null = null
  const isOurs = (request: IncomingMessage) => request.method === 'POST' && request.headers.host === new URL(model.url).host
  subscribe('http.server.request.start', message => {
    if (!isOurs((message as { request: IncomingMessage }).request)) return
    arrivals.push(performance.now())
    if (waiting && arrivals.length >= waiting.count) waiting.resolve()
  })
  subscribe('http.server.response.finish', message => {
    if (isOurs((message as { request: IncomingMessage }).request)) ends.push(performance.now())
  })
  return {
    model,
    clear() {
      arrivals = []
      ends = []
      model.requests.length = 0
    },
    arrivals: () => arrivals,
    gaps: () => arrivals.slice(1).map((at, index) => at - (ends[index] as number)),
    reached: count =>
      new Promise(resolve => {
        waiting = { count, resolve }
        if (arrivals.length >= count) resolve()
      }),
  }
}
