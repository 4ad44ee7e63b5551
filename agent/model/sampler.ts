import { OpenAI } from 'openai'
import type { ToolCall } from '../../domain/index.ts'
import { crashpoint } from '../../telemetry/index.ts'
import type { ChatRequest } from '../chat.ts'
import type { SessionLimits } from '../limits.ts'
import type { ModelEndpoint } from '../ports.ts'
import { type Failure, type FailureKind, failures } from './failure-kinds.ts'
import { classifyFailure } from './failures.ts'
import { openModelFetch } from './model-fetch.ts'
import { type Answer, addChunk, emptyAnswer, settledCalls } from './read-answer.ts'
import { addTokens, noTokens, type TokenCounts } from './token-counts.ts'

/** Asks the model: one streamed request at a time, with its retries. The text of a failed try never becomes an answer. */
export type Sampler = {
  sample(request: ChatRequest, options: SampleOptions): Promise<Sample>
  connections(): number
  close(): void
}

export type SampleOptions = {
  signal: AbortSignal
  /** What one more try is held to cost at most. */
  reserved: TokenCounts
  /** Call ids of the conversation so far. */
  takenIds: ReadonlySet<string>
  /** False = the budget has no room for another try beside what the failed ones are held to have cost. */
  mayTryAgain(held: TokenCounts): boolean
  onRetry(retry: { failure: FailureKind; nextTry: number; waitMs: number }): void
}

export type Sample =
  | {
      kind: 'answered'
      text: string
      refusal: string
      toolCalls: ToolCall[]
      finishReason: string
      /** Of the answer itself. */
      usage: TokenCounts
      reported: boolean
      /** Of the failed tries before it. */
      held: TokenCounts
      tries: number
    }
  | { kind: 'failed'; failure: Failure; held: TokenCounts; reported: boolean; tries: number }

export type SamplerPorts = { endpoint: ModelEndpoint; limits: SessionLimits; random(): number }

export function openSampler({ endpoint, limits, random }: SamplerPorts): Sampler {
  const transport = openModelFetch({ connectMs: limits.modelConnectMs, responseBytesMax: limits.answerBytesMax * wireBytesPerAnswerByte })
  const client = new OpenAI({
    // Endpoints without keys exist; the client refuses an empty one.
    apiKey: endpoint.apiKey || 'none',
    baseURL: endpoint.baseUrl,
    organization: null,
    project: null,
    maxRetries: 0,
    timeout: limits.modelTotalMs,
    logLevel: 'off',
    fetch: transport.fetch,
  })
  return {
    sample: (request, options) => sampleWithRetries(client, request, options, limits, random),
    connections: transport.connections,
    close: transport.close,
  }
}

/** A token of a few bytes travels in a chunk of some hundred. */
const wireBytesPerAnswerByte = 100

async function sampleWithRetries(
  client: OpenAI,
  request: ChatRequest,
  options: SampleOptions,
  limits: SessionLimits,
  random: () => number,
): Promise<Sample> {
  const endsAt = performance.now() + limits.modelTotalMs
  let held = noTokens
  let reported = true
  for (let tries = 1; ; tries++) {
    const attempt = await tryOnce(client, request, options.signal, limits, endsAt - performance.now())
    if (attempt.kind === 'answered') {
      const { answer } = attempt
      const usage = answer.usage ?? estimateTokens(request.body.byteLength, answer.bytes)
      return {
        kind: 'answered',
        text: answer.text,
        refusal: answer.refusal,
        toolCalls: settledCalls(answer, options.takenIds),
        finishReason: answer.finishReason ?? 'unknown',
        usage,
        reported: answer.usage !== null && reported,
        held,
        tries,
      }
    }
    const { failure } = attempt
    if (attempt.usage) held = addTokens(held, attempt.usage)
    else if (failures[failure.kind].billed === 'maybe') {
      held = addTokens(held, options.reserved)
      reported = false
    }
    const triesMax = retriesOf(failure.kind, limits)
    if (tries >= triesMax) return { kind: 'failed', failure, held, reported, tries }
    const waitMs = backoffMs(tries, failure, limits, random)
    const without = performance.now() + waitMs >= endsAt ? 'time' : options.mayTryAgain(held) ? null : 'budget'
    if (without) {
      const message = `${failure.message}; there is no ${without} left for another try`
      return { kind: 'failed', failure: { ...failure, message }, held, reported, tries }
    }
    options.onRetry({ failure: failure.kind, nextTry: tries + 1, waitMs })
    if (!(await pause(waitMs, options.signal))) {
      return { kind: 'failed', failure: { kind: 'cancelled', message: failures.cancelled.hint, retryAfterMs: null }, held, reported, tries }
    }
  }
}

const bytesPerToken = 4

/** For a server that reports nothing: UTF-8 bytes / 4, rounded up. */
function estimateTokens(requestBytes: number, answerBytes: number): TokenCounts {
  return { inputTokens: Math.ceil(requestBytes / bytesPerToken), cachedTokens: 0, outputTokens: Math.ceil(answerBytes / bytesPerToken) }
}

function retriesOf(kind: FailureKind, limits: SessionLimits): number {
  const { retry } = failures[kind]
  return retry === 'never' ? 1 : retry === 'once' ? Math.min(limits.rateLimitTriesMax, limits.modelTriesMax) : limits.modelTriesMax
}

/** A Retry-After of a 429 is waited for in full; of anything else only as far as our own waits go. */
export function backoffMs(tries: number, failure: Failure, limits: SessionLimits, random: () => number): number {
  const jitter = 1 + ((random() * 2 - 1) * limits.backoffJitterPercent) / 100
  const own = Math.min(limits.backoffBaseMs * 2 ** (tries - 1), limits.backoffMaxMs)
  if (failure.retryAfterMs === null) return Math.round(own * jitter)
  if (failure.kind === 'rate-limited') return Math.min(failure.retryAfterMs, limits.retryAfterMaxMs)
  return Math.round(Math.min(failure.retryAfterMs, limits.backoffMaxMs) * jitter)
}

type Attempt = { kind: 'answered'; answer: Answer } | { kind: 'failed'; failure: Failure; usage: TokenCounts | null }

async function tryOnce(client: OpenAI, request: ChatRequest, outer: AbortSignal, limits: SessionLimits, leftMs: number): Promise<Attempt> {
  const watch = openWatch(outer, limits.modelIdleMs, leftMs)
  const answer = emptyAnswer()
  try {
    const stream = (await client.post('/chat/completions', {
      body: request.body,
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      stream: true,
      signal: watch.signal,
    })) as AsyncIterable<unknown>
    for await (const chunk of stream) {
      const verdict = addChunk(answer, chunk)
      if (verdict === 'malformed') return failedTry('stream', 'the endpoint sent a chunk of an unknown shape', answer)
      if (verdict === 'content') {
        watch.sawContent()
        crashpoint('model.midStream')
      }
      if (answer.bytes > limits.answerBytesMax) return failedTry('too-long', `more than ${limits.answerBytesMax} bytes`, answer)
    }
    const stopped = watch.stoppedBy()
    // An answer that was whole before the stop came is kept: it was paid for.
    if (stopped && answer.finishReason === null) return failedTry(stopped, failures[stopped].hint, answer)
    return judgeAnswer(answer)
  } catch (error) {
    const stopped = watch.stoppedBy()
    if (stopped) return failedTry(stopped, failures[stopped].hint, answer)
    return { kind: 'failed', failure: classifyFailure(error), usage: answer.usage }
  } finally {
    watch.close()
  }
}

function judgeAnswer(answer: Answer): Attempt {
  if (answer.finishReason === null) return failedTry('stream', 'the answer ended without its last event', answer)
  if (answer.finishReason === 'length') return failedTry('truncated', failures.truncated.hint, answer)
  const empty = answer.text === '' && answer.refusal === '' && answer.calls.length === 0
  if (empty && answer.finishReason !== 'content_filter')
    return failedTry(answer.reasoned ? 'reasoning-only' : 'empty', 'no text and no tool call', answer)
  return { kind: 'answered', answer }
}

function failedTry(kind: FailureKind, message: string, answer: Answer): Attempt {
  return { kind: 'failed', failure: { kind, message, retryAfterMs: null }, usage: answer.usage }
}

/** Ends a try from outside, and remembers why: the session's own stop, silence, or its whole time. */
function openWatch(outer: AbortSignal, idleMs: number, leftMs: number) {
  const controller = new AbortController()
  let reason: 'cancelled' | 'idle' | 'total-time' | null = null
  const stop = (why: NonNullable<typeof reason>) => {
    reason ??= why
    controller.abort()
  }
  const onOuter = () => stop('cancelled')
  if (outer.aborted) onOuter()
  else outer.addEventListener('abort', onOuter, { once: true })
  const total = setTimeout(stop, Math.max(0, leftMs), 'total-time')
  const idle = setTimeout(stop, idleMs, 'idle')
  return {
    signal: controller.signal,
    sawContent: () => void idle.refresh(),
    stoppedBy: () => reason,
    close() {
      clearTimeout(total)
      clearTimeout(idle)
      outer.removeEventListener('abort', onOuter)
    },
  }
}

/** False: the signal came first. */
function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false)
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const done = (waited: boolean) => {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
    resolve(waited)
  }
  const stop = () => done(false)
  const timer = setTimeout(done, ms, true)
  signal.addEventListener('abort', stop, { once: true })
  return promise
}
