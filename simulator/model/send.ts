import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ChatRequest } from './check-request.ts'
import { type Composed, chunksOf, renderCompletion } from './compose.ts'
import type { Random } from './random.ts'
import type { CheckedFault } from './script.ts'

/** How the bytes of a stream are cut: anywhere, one write a chunk, or all in one. */
export type Chunking = 'bytes' | 'chunks' | 'whole'

/** Most pieces one chunk's bytes are cut into. */
const cutsMax = 3

export type Sending = {
  request: ChatRequest
  answer: Composed
  fault: CheckedFault | null
  random: Random
  chunking: Chunking
  chunkDelayMs: number
}

/** Sends the answer, or as much of it as the fault lets through. Resolves when nothing more will be sent. */
export async function send(response: ServerResponse, sending: Sending): Promise<void> {
  const { fault } = sending
  if ((fault?.kind === 'stall' || fault?.kind === 'cut') && fault.afterChunks === undefined) {
    if (fault.kind === 'cut') response.socket?.destroy()
    return
  }
  if (sending.request.stream) await sendStream(response, sending)
  else await sendWhole(response, sending)
}

async function sendWhole(response: ServerResponse, { answer, request, fault }: Sending): Promise<void> {
  const bytes = Buffer.from(fault?.kind === 'malformed-chunk' ? '{"id": "chatcmpl-' : JSON.stringify(renderCompletion(answer, request)))
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length })
  if (fault?.kind === 'stall') response.write(bytes.subarray(0, bytes.length >> 1))
  else if (fault?.kind === 'cut') response.write(bytes.subarray(0, bytes.length >> 1), () => response.socket?.destroy())
  else response.end(bytes)
}

async function sendStream(response: ServerResponse, sending: Sending): Promise<void> {
  const { fault, chunkDelayMs } = sending
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' })
  response.flushHeaders()
  if (fault?.kind === 'keep-alive') return keepAlive(response, fault.everyMs)
  let sent = 0
  let held = ''
  for (const event of eventsOf(sending)) {
    if ((fault?.kind === 'stall' || fault?.kind === 'cut') && sent >= (fault.afterChunks ?? 0)) {
      if (held !== '') response.write(held)
      if (fault.kind === 'cut') setImmediate(() => response.socket?.destroy())
      return
    }
    sent += 1
    if (sending.chunking === 'whole') held += event
    else await writeCut(response, event, sending)
    if (response.destroyed) return
    if (chunkDelayMs > 0) await sleep(chunkDelayMs)
  }
  response.end(held)
}

function* eventsOf({ request, answer, fault, random }: Sending): Generator<string> {
  let count = 0
  for (const chunk of chunksOf(answer, request, random, fault?.kind === 'no-finish')) {
    yield `data: ${JSON.stringify(chunk)}\n\n`
    count += 1
    if (count !== 2) continue
    if (fault?.kind === 'malformed-chunk') yield 'data: {"id":"chatcmpl-broken","choices":[{"index":0,"delta":{"content":"\n\n'
    if (fault?.kind === 'error-chunk') {
      yield `data: ${JSON.stringify({ error: { message: fault.message, type: 'server_error', param: null, code: fault.code } })}\n\n`
      return
    }
  }
  if (fault?.kind !== 'no-done' && fault?.kind !== 'no-finish') yield 'data: [DONE]\n\n'
}

/** Cuts at any byte, also within a character; a turn of the event loop between the writes keeps them apart on the wire. */
async function writeCut(response: ServerResponse, event: string, { random, chunking }: Sending): Promise<void> {
  const bytes = Buffer.from(event)
  const cuts = chunking === 'bytes' ? Array.from({ length: random(cutsMax + 1) }, () => random(bytes.length)).sort((a, b) => a - b) : []
  let from = 0
  for (const to of [...cuts, bytes.length]) {
    if (to === from) continue
    if (!response.write(bytes.subarray(from, to))) await drained(response)
    if (chunking === 'bytes') await new Promise(resolve => setImmediate(resolve))
    from = to
  }
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise(resolve => {
    const done = () => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.on('drain', done).on('close', done)
  })
}

function keepAlive(response: ServerResponse, everyMs: number): Promise<void> {
  return new Promise(resolve => {
    const timer = setInterval(() => response.write(': keep-alive\n\n'), everyMs)
    response.on('close', () => {
      clearInterval(timer)
      resolve()
    })
  })
}
