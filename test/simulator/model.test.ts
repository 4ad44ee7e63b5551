import { createHash } from 'node:crypto'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import OpenAI from 'openai'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type ModelFault, ModelScript, startFakeModel } from '../../simulator/index.ts'
import { useSimulator } from './fixture.ts'

const fixture = useSimulator()
let client: OpenAI

type Message = OpenAI.ChatCompletionMessageParam
const user: Message = { role: 'user', content: 'Fix it' }
const tool: OpenAI.ChatCompletionTool = {
  type: 'function',
  function: {
    name: 'read_file',
    description: 'Reads',
    parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  },
}

beforeAll(() => {
  client = new OpenAI({ baseURL: fixture.model.url, apiKey: 'sk-simulated', maxRetries: 0, timeout: 5000 })
})

afterEach(() => {
  fixture.model.clearFaults()
  fixture.model.script([])
  fixture.model.set({ latencyMs: 0, chunkDelayMs: 0, chunking: 'bytes' })
})

type Collected = {
  text: string
  reasoning: string
  calls: { id: string; name: string; arguments: string }[]
  finish: string | null
  usage: OpenAI.CompletionUsage | null
}

async function collect(messages: Message[], options: Partial<OpenAI.ChatCompletionCreateParamsStreaming> = {}): Promise<Collected> {
  return collectFrom(
    client.chat.completions.create({
      model: 'm',
      messages,
      tools: [tool],
      stream: true,
      stream_options: { include_usage: true },
      ...options,
    }),
  )
}

/** Reads a stream as a client must: deltas by index, usage from the last chunk. */
async function collectFrom(work: PromiseLike<AsyncIterable<OpenAI.ChatCompletionChunk>>, signal?: AbortSignal): Promise<Collected> {
  const collected: Collected = { text: '', reasoning: '', calls: [], finish: null, usage: null }
  for await (const chunk of await work) {
    collected.usage = chunk.usage ?? collected.usage
    const [choice] = chunk.choices
    if (!choice) continue
    collected.text += choice.delta.content ?? ''
    collected.reasoning += (choice.delta as { reasoning_content?: string }).reasoning_content ?? ''
    collected.finish = choice.finish_reason ?? collected.finish
    for (const part of choice.delta.tool_calls ?? []) {
      const call = collected.calls[part.index] ?? { id: '', name: '', arguments: '' }
      collected.calls[part.index] = call
      call.id += part.id ?? ''
      call.name += part.function?.name ?? ''
      call.arguments += part.function?.arguments ?? ''
    }
  }
  // The package ends a stream quietly when its caller aborts it.
  if (signal?.aborted) throw new Error('aborted')
  return collected
}

function answered(calls: Collected['calls'], results: string[] = []): Message[] {
  return [
    {
      role: 'assistant',
      content: null,
      tool_calls: calls.map(call => ({ id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } })),
    },
    ...calls.map((call, index): Message => ({ role: 'tool', tool_call_id: call.id, content: results[index] ?? 'ok' })),
  ]
}

describe('a scripted conversation', () => {
  const path = 'src/žluťoučký kůň 🐴/𝒳.ts'
  const script: ModelScript = [
    {
      text: 'Ich lese zuerst 😀 … ',
      toolCalls: [
        { name: 'read_file', arguments: { path } },
        { name: 'read_file', arguments: { path: 'b' } },
      ],
    },
    { text: 'Fertig. 完了' },
  ]

  test('is streamed turn by turn, text and parallel calls whole however the bytes are cut', async () => {
    fixture.model.script(script)
    const first = await collect([user])
    expect(first).toMatchObject({
      text: 'Ich lese zuerst 😀 … ',
      finish: 'tool_calls',
      calls: [{ name: 'read_file' }, { name: 'read_file', arguments: '{"path":"b"}' }],
    })
    expect(JSON.parse(first.calls[0]?.arguments ?? '')).toEqual({ path })
    const second = await collect([user, ...answered(first.calls)])
    expect(second).toMatchObject({ text: 'Fertig. 完了', calls: [], finish: 'stop' })
    expect(await collect([user, ...answered(first.calls), { role: 'assistant', content: 'Fertig. 完了' }, user])).toMatchObject({
      text: 'done',
    })
    fixture.model.assertNoRefusedRequests()
  })

  test('answers the same request with the same answer, ids included, also after a crash of the asker', async () => {
    fixture.model.script(script)
    const [one, two] = [await collect([user]), await collect([user])]
    expect(two.calls).toEqual(one.calls)
    expect(new Set(one.calls.map(call => call.id)).size).toBe(2)
    expect(fixture.model.repeated().length).toBeGreaterThan(0)
  })

  test('comes in one piece without streaming', async () => {
    fixture.model.script(script)
    const { choices, usage } = await client.chat.completions.create({ model: 'm', messages: [user], tools: [tool] })
    expect(choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: 'Ich lese zuerst 😀 … ', tool_calls: [{ type: 'function' }, { type: 'function' }] },
    })
    expect(usage?.total_tokens).toBe((usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0))
  })

  test('is chosen by a text in the conversation, or made by a function that reads it', async () => {
    const { model } = fixture
    model.script([{ text: 'for everybody' }])
    model.script([{ text: 'for "the" second' }], { match: 'issue "two"' })
    model.script(request => ({ text: `you said ${request.messages.length} messages` }), { match: 'count' })
    const said = async (content: string) => (await collect([{ role: 'user', content }])).text
    expect([await said('hello'), await said('this is issue "two"'), await said('count')]).toEqual([
      'for everybody',
      'for "the" second',
      'you said 1 messages',
    ])
    model.script([], { match: 'issue "two"' })
    model.script([], { match: 'count' })
  })

  test('goes on by the order of requests when a session shortens its history', async () => {
    fixture.model.script([{ text: 'one' }, { text: 'two' }, { text: 'three' }], { choice: 'order' })
    const say = async (messages: Message[]) => (await collect(messages)).text
    const long: Message[] = [user, { role: 'assistant', content: 'one' }, user]
    expect([await say([user]), await say(long), await say(long), await say([{ role: 'user', content: 'a summary' }])]).toEqual([
      'one',
      'two',
      'two',
      'three',
    ])
  })

  test('a function that throws fails the request, and the test that looks', async () => {
    const before = fixture.model.requests.length
    fixture.model.script(() => {
      throw new Error('a bug in the test')
    })
    await expect(collect([user])).rejects.toMatchObject({ status: 599 })
    expect(() => fixture.model.assertNoRefusedRequests()).toThrow('a bug in the test')
    fixture.model.requests.splice(before)
  })

  test('reports the usage it was given, or bytes over four with the shared prefix as cached', async () => {
    fixture.model.script([
      { text: 'a', usage: { promptTokens: 1000, completionTokens: 20, cachedTokens: 600, reasoningTokens: 5 } },
      { text: 'b' },
    ])
    expect((await collect([user])).usage).toMatchObject({
      prompt_tokens: 1000,
      completion_tokens: 20,
      total_tokens: 1020,
      prompt_tokens_details: { cached_tokens: 600 },
      completion_tokens_details: { reasoning_tokens: 5 },
    })
    const messages: Message[] = [user, { role: 'assistant', content: 'a' }, user]
    const { usage } = await collect(messages)
    const { bytes } = fixture.model.requests.at(-1) ?? { bytes: 0 }
    expect(usage?.prompt_tokens).toBe(Math.ceil(bytes / 4))
    expect(usage?.prompt_tokens_details?.cached_tokens).toBeGreaterThan(0)
    expect((await collect(messages, { stream_options: null })).usage).toBeNull()
  })

  test('is told as a file by the public schema', async () => {
    expect(ModelScript.parse(JSON.parse('[{"text":"a"},{"toolCalls":[{"name":"write","arguments":{"path":"a"}}]}]'))).toHaveLength(2)
    expect(ModelScript.safeParse([{ txet: 'a' }]).success).toBe(false)
  })
})

/** The raw bytes of an answer, packet by packet. */
function rawAnswer(body: object): Promise<Buffer[]> {
  const { port } = new URL(fixture.model.url)
  const text = JSON.stringify(body)
  return new Promise(resolve => {
    const packets: Buffer[] = []
    const socket = connect(Number(port), '127.0.0.1', () => {
      socket.write(
        `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer k\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`,
      )
    })
    socket.on('data', packet => packets.push(packet))
    socket.on('close', () => resolve(packets))
  })
}

test('the stream is cut anywhere, also within a character, and at the same places for the same seed', async () => {
  fixture.model.script([{ text: '😀🐴完了'.repeat(60) }])
  const body = { model: 'm', stream: true, messages: [user] }
  const chunksOf = (packets: Buffer[]) =>
    [
      ...Buffer.concat(packets)
        .toString('latin1')
        .matchAll(/\r\n([0-9a-f]+)\r\n/g),
    ].map(each => each[1])
  const [one, two] = [await rawAnswer(body), await rawAnswer(body)]
  expect(chunksOf(one)).toEqual(chunksOf(two))
  // A piece that begins with a continuation byte was cut within a character.
  const latin = Buffer.concat(one).toString('latin1')
  expect(/\r\n[0-9a-f]+\r\n[\x80-\xbf]/.test(latin)).toBe(true)
})

test.each([
  ['kept alive', true, 1],
  ['closed each time', false, 4],
] as const)('connections are counted: %s', async (_, keepAlive, count) => {
  const model = await startFakeModel()
  const agent = new Agent({ keepAlive, maxSockets: 1 })
  const text = JSON.stringify({ model: 'm', stream: true, messages: [user] })
  for (let at = 0; at < 4; at += 1) await postOver(agent, model.url, text)
  expect(model.connections()).toBe(count)
  expect(model.requests.map(each => each.bodyHash)).toEqual(Array(4).fill(createHash('sha256').update(text).digest('hex')))
  agent.destroy()
  await model.close()
})

/** By node:http: global fetch opens a second connection when its first is not yet given back. */
function postOver(agent: Agent, url: string, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: 'Bearer k', 'content-type': 'application/json' }
    const asking = request(`${url}/chat/completions`, { agent, method: 'POST', headers }, response => {
      response.resume().on('close', resolve)
    })
    asking.on('error', reject).end(text)
  })
}

describe('what goes wrong', () => {
  const turn = { text: 'A first sentence, and a second one.', toolCalls: [{ name: 'read_file', arguments: { path: 'a' } }] }

  test.each<[string, ModelFault, object]>([
    [
      '429 with Retry-After',
      { kind: 'status', status: 429, retryAfterSeconds: 3 },
      { status: 429, headers: { 'retry-after': '3' }, error: { type: 'rate_limit_error' } },
    ],
    ['500', { kind: 'status', status: 500 }, { status: 500, error: { type: 'server_error' } }],
    ['502 as a page', { kind: 'status', status: 502, html: true }, { status: 502, headers: { 'content-type': 'text/html' } }],
    ['529', { kind: 'status', status: 529 }, { status: 529 }],
    ['401', { kind: 'status', status: 401, code: 'invalid_api_key' }, { status: 401, code: 'invalid_api_key' }],
    [
      'a context that is too long',
      { kind: 'status', status: 400, code: 'context_length_exceeded', message: 'maximum context length' },
      { status: 400, code: 'context_length_exceeded' },
    ],
    [
      'an x-should-retry header',
      { kind: 'status', status: 503, headers: { 'x-should-retry': 'false' } },
      { status: 503, headers: { 'x-should-retry': 'false' } },
    ],
  ])('%s', async (_, fault, expected) => {
    fixture.model.script([{ ...turn, fault }])
    const error = await collect([user]).catch(caught => caught)
    expect({ ...error, headers: Object.fromEntries(error.headers) }).toMatchObject(expected)
    expect((await collect([user])).text).toBe(turn.text)
  })

  test.each<[string, ModelFault, (work: Promise<Collected>) => Promise<void>]>([
    [
      'reasoning only',
      { kind: 'reasoning-only', text: 'Hm.' },
      async work => expect(await work).toMatchObject({ text: '', reasoning: 'Hm.', calls: [], finish: 'stop' }),
    ],
    ['empty', { kind: 'empty' }, async work => expect(await work).toMatchObject({ text: '', calls: [], finish: 'stop' })],
    ['cut by length', { kind: 'length' }, async work => expect((await work).finish).toBe('length')],
    ['no usage', { kind: 'no-usage' }, async work => expect((await work).usage).toBeNull()],
    ['wrong usage', { kind: 'wrong-usage' }, async work => expect((await work).usage?.total_tokens).toBe(0)],
    [
      'the same call twice',
      { kind: 'duplicate-call' },
      async work => {
        const { calls } = await work
        expect(calls).toHaveLength(2)
        expect(calls[0]).toEqual(calls[1])
      },
    ],
    ['no finish reason', { kind: 'no-finish' }, async work => expect(await work).toMatchObject({ finish: null, usage: null })],
    ['no [DONE]', { kind: 'no-done' }, async work => expect((await work).finish).toBe('tool_calls')],
    ['a malformed chunk', { kind: 'malformed-chunk' }, async work => expect(work).rejects.toThrow(SyntaxError)],
    [
      'an error in the stream',
      { kind: 'error-chunk', code: 'overloaded' },
      async work => expect(work).rejects.toMatchObject({ code: 'overloaded' }),
    ],
    ['cut before anything', { kind: 'cut' }, async work => expect(work).rejects.toThrow()],
    ['cut in the middle', { kind: 'cut', afterChunks: 3 }, async work => expect(work).rejects.toThrow()],
    ['no answer at all', { kind: 'stall' }, async work => expect(work).rejects.toThrow()],
    ['silence in the middle', { kind: 'stall', afterChunks: 3 }, async work => expect(work).rejects.toThrow()],
    ['comments instead of an answer', { kind: 'keep-alive', everyMs: 20 }, async work => expect(work).rejects.toThrow()],
  ])('%s, once; the next try is answered', async (_, fault, check) => {
    fixture.model.script([{ ...turn, fault }])
    const controller = new AbortController()
    // Only what never ends by itself is ended by the caller.
    const endless = fault.kind === 'stall' || fault.kind === 'keep-alive'
    const timer = setTimeout(() => controller.abort(), endless ? 400 : 20_000)
    const stream = client.chat.completions.create(
      { model: 'm', messages: [user], tools: [tool], stream: true, stream_options: { include_usage: true } },
      { signal: controller.signal },
    )
    await check(collectFrom(stream, controller.signal))
    clearTimeout(timer)
    expect(fixture.model.requests.at(-1)?.fault).toBe(fault.kind)
    expect((await collect([user])).text).toBe(turn.text)
  })

  test('an answer of 50 MB', async () => {
    fixture.model.script([{ fault: { kind: 'huge' } }])
    fixture.model.set({ chunking: 'whole' })
    const packets = await rawAnswer({ model: 'm', stream: true, messages: [user] })
    expect(packets.reduce((sum, packet) => sum + packet.length, 0)).toBeGreaterThan(50 * 1024 * 1024)
    expect(packets.at(-1)?.toString()).toContain('[DONE]')
  })

  test('faults can be put before any script, after some requests and for one conversation', async () => {
    const { model } = fixture
    model.fail({ kind: 'status', status: 503, times: 2 }, { skip: 1, match: 'special' })
    const status = (content: string) =>
      collect([{ role: 'user', content }]).then(
        () => 200,
        error => error.status,
      )
    expect([
      await status('special'),
      await status('usual'),
      await status('special'),
      await status('special'),
      await status('special'),
    ]).toEqual([200, 200, 503, 503, 200])
  })

  test('latency delays the first byte', async () => {
    fixture.model.set({ latencyMs: 120 })
    const before = performance.now()
    await collect([user])
    expect(performance.now() - before).toBeGreaterThanOrEqual(115)
  })

  test('a client that goes away is seen as gone', async () => {
    fixture.model.script([{ fault: { kind: 'stall', afterChunks: 1 } }])
    const controller = new AbortController()
    const work = client.chat.completions.create({ model: 'm', messages: [user], stream: true }, { signal: controller.signal })
    for await (const _ of await work) controller.abort()
    await expect.poll(() => fixture.model.requests.at(-1)).toMatchObject({ aborted: true, durationMs: expect.any(Number) })
  })
})

describe('a request that real endpoints refuse', () => {
  const call = (id: string) => ({ id, type: 'function', function: { name: 'read_file', arguments: '{}' } })
  const asked = { role: 'assistant', content: null, tool_calls: [call('a'), call('b')] }
  const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'ok' })
  const parameters = (schema: object) => ({ tools: [{ type: 'function', function: { name: 't', parameters: schema } }] })

  test.each<[string, object, string]>([
    ['no messages', { messages: [] }, "Invalid value for 'messages'"],
    [
      'a tool message without a call',
      { messages: [user, result('x')] },
      "messages with role 'tool' must be a response to a preceding message",
    ],
    ['a call without an answer at the end', { messages: [user, asked, result('a')] }, 'did not have response messages: b'],
    [
      'a call without an answer before the next message',
      { messages: [user, asked, result('a'), user] },
      'did not have response messages: b',
    ],
    [
      'an answer given twice',
      { messages: [user, asked, result('a'), result('a'), result('b')] },
      "messages with role 'tool' must be a response",
    ],
    [
      'one call id in two turns',
      { messages: [user, asked, result('a'), result('b'), asked, result('a'), result('b')] },
      "Duplicate value for 'tool_call_id'",
    ],
    ['an assistant message that says nothing', { messages: [user, { role: 'assistant', content: null }] }, "Invalid value for 'content'"],
    [
      'arguments that are no text',
      { messages: [user, { role: 'assistant', tool_calls: [{ id: 'a', type: 'function', function: { name: 't', arguments: {} } }] }] },
      'arguments',
    ],
    ['an unknown role', { messages: [{ role: 'robot', content: 'x' }] }, 'messages[0]'],
    ['an unknown argument', { messages: [user], temprature: 1 }, 'Unrecognized request argument supplied: temprature'],
    [
      'stream options without a stream',
      { messages: [user], stream_options: { include_usage: true } },
      "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
    ],
    ['a tool choice without tools', { messages: [user], tool_choice: 'auto' }, "'tool_choice' is only allowed when 'tools' are specified."],
    ['a tool name with a dot', { messages: [user], tools: [{ type: 'function', function: { name: 'a.b' } }] }, 'tools[0].function.name'],
    ['two tools of one name', { messages: [user], tools: [tool, tool] }, 'Duplicate function name: read_file'],
    [
      'parameters that are no object schema',
      { messages: [user], ...parameters({ type: 'string' }) },
      'schema must be a JSON Schema of \'type: "object"\'',
    ],
    [
      'a required name that is no property',
      { messages: [user], ...parameters({ type: 'object', properties: {}, required: ['path'] }) },
      'required property "path"',
    ],
    [
      'a type that does not exist',
      { messages: [user], ...parameters({ type: 'object', properties: { a: { type: 'text' } } }) },
      '"text" is not a type',
    ],
    [
      'an array without items',
      { messages: [user], ...parameters({ type: 'object', properties: { a: { type: 'array' } } }) },
      'array schema missing items',
    ],
    [
      'an empty enum',
      { messages: [user], ...parameters({ type: 'object', properties: { a: { enum: [] } } }) },
      'enum of $.a is not a list',
    ],
    ['no model', { model: '', messages: [user] }, "'model'"],
  ])('%s is 400', async (_, body, message) => {
    const before = fixture.model.requests.length
    const response = await post({ model: 'm', ...body })
    expect(response).toMatchObject({
      status: 400,
      json: { error: { type: 'invalid_request_error', message: expect.stringContaining(message) } },
    })
    expect(() => fixture.model.assertNoRefusedRequests()).toThrow(message)
    fixture.model.requests.splice(before)
  })

  test('without a key it is 401, an unknown path 404, and another model 404 where models are listed', async () => {
    const before = fixture.model.requests.length
    expect((await post({ model: 'm', messages: [user] }, { authorization: '' })).status).toBe(401)
    expect((await fetch(`${fixture.model.url}/completions`, { method: 'POST', headers: { authorization: 'Bearer k' } })).status).toBe(404)
    expect((await client.models.list()).data.map(each => each.id)).toEqual(['scripted'])
    fixture.model.requests.splice(before)
  })
})

async function post(body: object, headers: Record<string, string> = {}): Promise<{ status: number; json: unknown }> {
  const response = await fetch(`${fixture.model.url}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { authorization: 'Bearer k', 'content-type': 'application/json', ...headers },
  })
  return { status: response.status, json: await response.json() }
}
