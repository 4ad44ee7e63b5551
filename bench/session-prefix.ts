import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { Agent, createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { type FileHost, runSession, type SessionPorts, type SessionStart } from '../agent/index.ts'

/**
 * Own time per turn over 200 turns: from the end of one answer to the arrival of the next request, seen by the server. The
 * tool is `read_file` on a plain folder, the model answers at once. Beside it a bare loop that does only what must be done,
 * in the same run. Beside the wall time stands the processor time of the session's own thread, which other work on the
 * machine does not inflate. `node bench/session-prefix.ts [turns]`
 */
const turns = Number(process.argv[2] ?? 200)
const window = 40
const reachRatio = 1.1

if (isMainThread) await main()
else serve()

async function main() {
  const folder = mkdtempSync(join(tmpdir(), 'grokbot-bench-'))
  writeFileSync(join(folder, 'a.txt'), 'a line of some words, as they are in files\n'.repeat(turns + 40))
  const model = new Worker(new URL(import.meta.url), { argv: process.argv.slice(2) })
  const port = await once<number>(model)
  const rows: { [name: string]: Figures } = {}
  for (const round of [1, 2, 3]) {
    for (const [name, run] of [
      ['bare loop', bareLoop],
      ['session', session],
    ] as const) {
      const marks: number[] = []
      await run(`http://127.0.0.1:${port}/v1`, folder, () => void marks.push(threadMs()))
      model.postMessage('gaps')
      const gaps = await once<number[]>(model)
      const cpu = marks.slice(1).map((mark, index) => mark - (marks[index] as number))
      for (const [kind, values] of [
        ['wall', gaps],
        ['cpu', cpu],
      ] as const) {
        const figures = figuresOf(values)
        const row = `${name}, ${kind}`
        if (!rows[row] || (round > 1 && figures.median < rows[row].median)) rows[row] = figures
      }
    }
  }
  rmSync(folder, { recursive: true })
  await model.terminate()
  process.stdout.write(`own time per turn, ${turns} turns, best of 3 rounds\n`)
  for (const [name, row] of Object.entries(rows)) {
    process.stdout.write(
      `  ${name.padEnd(16)} median ${row.median} ms, first ${window} ${row.first} ms, last ${window} ${row.last} ms, ratio ${row.ratio} (reach ${reachRatio})\n`,
    )
  }
  process.stdout.write(`${JSON.stringify(rows)}\n`)
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

type Figures = { median: number; first: number; last: number; ratio: number }

function figuresOf(gaps: readonly number[]): Figures {
  const median = (values: readonly number[]) => [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] as number
  // The very first turns are those in which the code is compiled; the first window begins behind them.
  const warm = gaps.slice(10)
  const [first, last] = [median(warm.slice(0, window)), median(warm.slice(-window))]
  const round = (value: number) => Math.round(value * 100) / 100
  return { median: round(median(warm)), first: round(first), last: round(last), ratio: round(last / first) }
}

function once<T>(worker: Worker): Promise<T> {
  return new Promise(resolve => worker.once('message', resolve))
}

async function session(baseUrl: string, folder: string, onTurn: () => void) {
  const start: SessionStart = {
    taskId: 'bench',
    request: { text: '/grok fix', requester: 'bench', subject: null },
    purpose: 'change',
    repository: { owner: 'o', name: 'r', baseRef: 'main', baseSha: 'a'.repeat(40) },
    trust: { subject: 'trusted', repository: 'trusted' },
    instructions: [],
    grant: { profile: 'workspace', capabilities: ['read'], effects: [] },
    limits: { turnsMax: turns + 5, wallMs: 600_000, tokensMax: 1_000_000_000, costMicroUsdMax: null },
    deadlineAt: Date.now() + 600_000,
    network: 'none',
    family: 'grok_build',
    model: { name: 'bench', outputTokensMax: 1_000, outputTokensField: 'max_tokens', temperature: null, price: null },
    recorded: [],
  }
  const result = await runSession(start, { ...ports(baseUrl, folder), progress: update => update.kind === 'turn' && onTurn() })
  if (result.kind !== 'ended' || result.reason !== 'answer') throw new Error(JSON.stringify(result))
}

function ports(baseUrl: string, folder: string): SessionPorts {
  const missing = async () => ({ kind: 'fault' as const, code: 'broken' as const, message: 'not in this bench' })
  const read: FileHost['read'] = async path => ({
    kind: 'read',
    content: await readFile(join(folder, posix.relative('/workspace', posix.resolve('/workspace', path)))),
    mode: 0o644,
  })
  return {
    record: async () => 'recorded',
    sandbox: {
      report: { engine: 'none', state: 'none', profile: 'off', missing: [] },
      run: async () => ({ kind: 'refused', reason: 'not in this bench' }),
      files: { read, write: missing, list: missing, walk: missing, search: missing },
      egress: () => [],
    },
    model: { baseUrl, apiKey: 'bench' },
    snapshot: async () => ({ kind: 'refused', reason: 'not in this bench' }),
    restore: async () => {},
    killSwitch: () => ({ kind: 'clear' }),
    now: Date.now,
    random: Math.random,
    cancel: new AbortController().signal,
    progress: () => {},
  }
}

/** Request, read the stream, read the file, append: nothing else. */
async function bareLoop(baseUrl: string, folder: string, onTurn: () => void) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  let body = Buffer.from(`{"model":"bench","stream":true,"messages":[${JSON.stringify({ role: 'user', content: 'go' })}`)
  const tail = Buffer.from(']}')
  for (;;) {
    onTurn()
    const text = await post(`${baseUrl}/chat/completions`, agent, Buffer.concat([body, tail]))
    const call = text.split('\n\n').flatMap(event => {
      const data = event.startsWith('data: {') ? JSON.parse(event.slice(6)) : null
      return data?.choices?.[0]?.delta?.tool_calls ?? []
    })[0]
    if (!call) break
    const lines = (await readFile(join(folder, 'a.txt'), 'utf8')).split('\n')
    const { offset } = JSON.parse(call.function.arguments)
    const content = lines
      .slice(offset - 1, offset + 19)
      .map((line, index) => `${offset + index}→${line}`)
      .join('\n')
    const answer = { role: 'assistant', content: null, tool_calls: [{ id: call.id, type: 'function', function: call.function }] }
    const result = { role: 'tool', tool_call_id: call.id, content }
    body = Buffer.concat([body, Buffer.from(`,${JSON.stringify(answer)},${JSON.stringify(result)}`)])
  }
  agent.destroy()
}

function post(url: string, agent: Agent, body: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, {
      agent,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': body.byteLength },
    })
    request.on('error', reject)
    request.on('response', response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', chunk => {
        text += chunk
      })
      response.on('end', () => resolve(text))
    })
    request.end(body)
  })
}

/** The model: in a thread of its own, so that it takes no time from the loop it measures. */
function serve() {
  let gaps: number[] = []
  let turn = 0
  let endedAt = 0
  const server = createServer((request, response) => {
    if (turn > 0) gaps.push(performance.now() - endedAt)
    request.resume()
    request.on('end', () => {
      turn += 1
      const chunk = (delta: object, finish: string | null) =>
        `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
      const call = {
        index: 0,
        id: `call_${turn}`,
        type: 'function',
        function: { name: 'read_file', arguments: JSON.stringify({ target_file: 'a.txt', offset: turn, limit: 20 }) },
      }
      const last = turn > turns
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(last ? chunk({ content: 'done' }, null) : chunk({ tool_calls: [call] }, null))
      const usage = { choices: [], usage: { prompt_tokens: 1_000, completion_tokens: 20 } }
      response.end(`${chunk({}, last ? 'stop' : 'tool_calls')}data: ${JSON.stringify(usage)}\n\ndata: [DONE]\n\n`, () => {
        endedAt = performance.now()
      })
      if (last) turn = 0
    })
  })
  server.listen(0, '127.0.0.1', () => parentPort?.postMessage((server.address() as AddressInfo).port))
  parentPort?.on('message', () => {
    parentPort?.postMessage(gaps)
    gaps = []
  })
}
