import { describe, expect, it } from 'vitest'
import { type ChatRequest, openChat } from '../../agent/chat.ts'
import { sessionLimits } from '../../agent/index.ts'
import { type FailureKind, failures } from '../../agent/model/failure-kinds.ts'
import { backoffMs, openSampler, type Sample, type SampleOptions } from '../../agent/model/sampler.ts'
import type { FakeModel, ModelFault } from '../../simulator/index.ts'

import { useModel } from './shared-model.ts'

let model: FakeModel
useModel(fresh => {
  model = fresh
  model.script([{ text: 'The answer.', usage: { promptTokens: 100, completionTokens: 7, cachedTokens: 20 } }])
})

const limits = {
  ...sessionLimits,
  backoffBaseMs: 5,
  backoffMaxMs: 20,
  modelIdleMs: 300,
  modelTotalMs: 5_000,
  answerBytesMax: 100_000,
  modelTriesMax: 4,
}
const request: ChatRequest = openChat({ model: 'm', stream: true, stream_options: { include_usage: true } }, 'system', 'user').request()
const reserved = { inputTokens: 1_000, cachedTokens: 0, outputTokens: 500 }

async function sample(
  more: Partial<SampleOptions> = {},
  tuning: Partial<typeof limits> = {},
): Promise<{ sample: Sample; retries: string[] }> {
  const sampler = openSampler({ endpoint: { baseUrl: model.url, apiKey: 'sk-test' }, limits: { ...limits, ...tuning }, random: () => 0.5 })
  const retries: string[] = []
  const options: SampleOptions = {
    signal: new AbortController().signal,
    reserved,
    takenIds: new Set(),
    mayTryAgain: () => true,
    onRetry: retry => void retries.push(retry.failure),
    ...more,
  }
  try {
    return { sample: await sampler.sample(request, options), retries }
  } finally {
    sampler.close()
  }
}

const status = (code: number, more: Partial<Extract<ModelFault, { kind: 'status' }>> = {}): ModelFault => ({
  kind: 'status',
  status: code,
  times: 99,
  ...more,
})

/** A fault that never ends: what it is called, how many requests are made, and whether its cost stays booked. */
const fatal: [title: string, fault: ModelFault, kind: FailureKind, tries: number, billed: boolean][] = [
  ['401', status(401), 'unauthorized', 1, false],
  ['403, which is not a lost login', status(403), 'forbidden', 1, false],
  ['404', status(404), 'not-found', 1, false],
  ['400', status(400), 'bad-request', 1, false],
  ['408', status(408), 'bad-request', 1, false],
  ['422', status(422), 'bad-request', 1, false],
  ['413', status(413), 'too-large', 1, false],
  ['a context error by its code', status(400, { code: 'context_length_exceeded' }), 'context-length', 1, false],
  [
    'a context error by its words, from a server without codes',
    status(400, { message: 'This prompt is too long: 140000 tokens' }),
    'context-length',
    1,
    false,
  ],
  ['a 429 that means there is no money', status(429, { code: 'insufficient_quota' }), 'quota', 1, false],
  ['429, tried twice', status(429), 'rate-limited', 2, false],
  ['500', status(500), 'server', 4, true],
  ['503 with a page of HTML', status(503, { html: true }), 'overloaded', 4, false],
  ['529', status(529), 'overloaded', 4, false],
  ['525', status(525), 'certificate', 1, false],
  ['500 with x-should-retry: false', status(500, { headers: { 'x-should-retry': 'false' } }), 'told-not-to', 1, false],
  ['a connection that is cut before any byte', { kind: 'cut', times: 99 }, 'reset', 4, true],
  ['a stream that is cut', { kind: 'cut', afterChunks: 2, times: 99 }, 'stream', 4, true],
  ['a stream that ends without its last event', { kind: 'no-finish', times: 99 }, 'stream', 4, true],
  ['a chunk that is not JSON', { kind: 'malformed-chunk', times: 99 }, 'stream', 4, true],
  ['an error in the stream', { kind: 'error-chunk', times: 99 }, 'server', 4, true],
  [
    'an error in the stream that names the context',
    { kind: 'error-chunk', code: 'context_length_exceeded', times: 99 },
    'context-length',
    1,
    false,
  ],
  ['an empty answer', { kind: 'empty', times: 99 }, 'empty', 4, false],
  ['an answer of nothing but reasoning', { kind: 'reasoning-only', times: 99 }, 'reasoning-only', 4, false],
  ['an answer that reached its limit, whatever text it has', { kind: 'length', times: 99 }, 'truncated', 1, false],
  ['an answer without end', { kind: 'huge', bytes: 2_000_000, times: 99 }, 'too-long', 1, true],
  ['silence', { kind: 'stall', times: 99 }, 'idle', 1, true],
  ['silence after the first chunks', { kind: 'stall', afterChunks: 2, times: 99 }, 'idle', 1, true],
  ['keep-alives without content', { kind: 'keep-alive', everyMs: 50, times: 99 }, 'idle', 1, true],
]

describe('a request that fails', () => {
  it.each(fatal)('%s', async (_title, fault, kind, tries, billed) => {
    model.fail(fault)
    const { sample: result } = await sample()
    expect(result).toMatchObject({ kind: 'failed', failure: { kind }, tries })
    expect(model.requests).toHaveLength(tries)
    const held = result.held.inputTokens + result.held.outputTokens
    if (billed) expect(held).toBe(tries * 1_500)
    // The server itself said what these cost, or nothing was made.
    else expect(held).toBeLessThan(tries * 1_500)
  })

  it('an address nobody listens at', async () => {
    const sampler = openSampler({ endpoint: { baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'x' }, limits, random: () => 0.5 })
    const result = await sampler.sample(request, {
      signal: new AbortController().signal,
      reserved,
      takenIds: new Set(),
      mayTryAgain: () => true,
      onRetry: () => {},
    })
    expect(result).toMatchObject({
      kind: 'failed',
      failure: { kind: 'connect', message: 'the model could not be reached (ECONNREFUSED)' },
      tries: 4,
      held: { inputTokens: 0 },
    })
  })

  it('every kind of failure has its row', () => {
    const covered = new Set([...fatal.map(([, , kind]) => kind), 'connect', 'total-time', 'cancelled', 'unexpected'])
    expect([...covered].sort()).toEqual(Object.keys(failures).sort())
  })
})

describe('a request that succeeds in the end', () => {
  const passing: [title: string, fault: ModelFault, tries: number][] = [
    ['after one 500', { kind: 'status', status: 500 }, 2],
    ['after one 429', { kind: 'status', status: 429 }, 2],
    ['after a stream that was cut', { kind: 'cut', afterChunks: 3 }, 2],
    ['after three empty answers', { kind: 'empty', times: 3 }, 4],
    ['without the [DONE] some servers leave out', { kind: 'no-done' }, 1],
  ]
  it.each(passing)('%s', async (_title, fault, tries) => {
    model.fail(fault)
    const { sample: result } = await sample()
    expect(result).toMatchObject({
      kind: 'answered',
      text: 'The answer.',
      tries,
      usage: { inputTokens: 100, cachedTokens: 20, outputTokens: 7 },
    })
  })

  it('has no text of a failed try in it', async () => {
    model.script([{ text: 'x'.repeat(300) }])
    model.fail({ kind: 'cut', afterChunks: 20 })
    const { sample: result } = await sample()
    expect(result).toMatchObject({ kind: 'answered', text: 'x'.repeat(300), tries: 2 })
  })

  it('counts tokens itself when the server does not: bytes / 4, rounded up, and says so', async () => {
    model.fail({ kind: 'no-usage' })
    const { sample: result } = await sample()
    expect(result).toMatchObject({
      reported: false,
      usage: { inputTokens: Math.ceil(request.body.byteLength / 4), cachedTokens: 0, outputTokens: Math.ceil('The answer.'.length / 4) },
    })
  })

  it('puts tool calls together from chunks cut anywhere', async () => {
    model.script([
      {
        toolCalls: [
          { name: 'write', arguments: { file_path: 'ä.txt', content: 'Grüße — 你好 🎉\n'.repeat(20) } },
          { name: 'grep', arguments: { pattern: 'x' } },
        ],
      },
    ])
    const { sample: result } = await sample()
    expect(result.kind === 'answered' && result.toolCalls.map(call => [call.name, JSON.parse(call.arguments)])).toEqual([
      ['write', { file_path: 'ä.txt', content: 'Grüße — 你好 🎉\n'.repeat(20) }],
      ['grep', { pattern: 'x' }],
    ])
  })

  it('waits as long as a Retry-After asks', async () => {
    model.fail({ kind: 'status', status: 429, retryAfterSeconds: 0.4 })
    const startedAt = performance.now()
    const { sample: result } = await sample()
    expect(result.kind).toBe('answered')
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(395)
  })
})

describe('the end of trying', () => {
  it('comes when the budget has no room for another try', async () => {
    model.fail(status(500))
    const { sample: result } = await sample({ mayTryAgain: held => held.inputTokens < 2_000 })
    expect(result).toMatchObject({
      kind: 'failed',
      failure: { kind: 'server', message: expect.stringMatching(/no budget left for another try$/) },
      tries: 2,
    })
  })

  it('comes when the time of the answer is over, all tries together', async () => {
    model.fail({ kind: 'latency', ms: 10_000, times: 99 })
    const { sample: result } = await sample({}, { modelTotalMs: 300, modelIdleMs: 5_000 })
    expect(result).toMatchObject({ kind: 'failed', failure: { kind: 'total-time' } })
  })

  it('comes at once when the session is stopped, in a stream and in a wait', async () => {
    for (const fault of [{ kind: 'stall' }, { kind: 'status', status: 500, times: 99 }] satisfies ModelFault[]) {
      model.clearFaults()
      model.fail(fault)
      const stop = new AbortController()
      setTimeout(() => stop.abort(), 100)
      const startedAt = performance.now()
      const { sample: result } = await sample(
        { signal: stop.signal },
        { backoffBaseMs: 10_000, backoffMaxMs: 10_000, modelIdleMs: 60_000, modelTotalMs: 60_000 },
      )
      expect(result).toMatchObject({ kind: 'failed', failure: { kind: 'cancelled' } })
      expect(performance.now() - startedAt).toBeLessThan(1_000)
    }
  })
})

describe('waits between tries', () => {
  const real = sessionLimits
  const failure = (kind: FailureKind, retryAfterMs: number | null) => ({ kind, message: '', retryAfterMs })
  const rows: [title: string, tries: number, kind: FailureKind, retryAfterMs: number | null, random: number, ms: number][] = [
    ['begin at two seconds', 1, 'server', null, 0.5, 2_000],
    ['double', 3, 'server', null, 0.5, 8_000],
    ['end at thirty', 9, 'server', null, 0.5, 30_000],
    ['are shorter by a fifth at most', 1, 'server', null, 0, 1_600],
    ['are longer by a fifth at most', 1, 'server', null, 1, 2_400],
    ['obey a Retry-After of a 429 in full', 1, 'rate-limited', 45_000, 0, 45_000],
    ['up to two minutes', 1, 'rate-limited', 999_000, 0.5, 120_000],
    ['cut that of anything else at thirty seconds', 1, 'server', 45_000, 0.5, 30_000],
  ]
  it.each(rows)('%s', (_title, tries, kind, retryAfterMs, random, ms) => {
    expect(backoffMs(tries, failure(kind, retryAfterMs), real, () => random)).toBe(ms)
  })
})
