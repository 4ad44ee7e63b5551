import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { loadavg, tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import { startOwnRedis } from '../cli/own-redis.ts'
import { startSimulator } from '../simulator/index.ts'
import { buildProgram } from '../tools/build/build-program.ts'
import { type Loaded, loadDoor } from './intake-load.ts'

/**
 * Signed deliveries a second that are on the disk when they are answered, through the real receiver, beside a bare server,
 * one with a bare file, and Probot doing nothing; then the same while GitHub, the model and the worker stand still.
 * `./dev bench intake [--clients 64] [--bytes 8000] [--seconds 4] [--rounds 1]`; of several rounds, which go
 * through all of them in turns, the one of the median is shown.
 */
const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: '64' },
    bytes: { type: 'string', default: '8000' },
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '1' },
  },
})
const [clients, bytes, seconds] = [Number(values.clients), Number(values.bytes), Number(values.seconds)]
const secret = 'a secret of the bench'
const reach = { perSecond: 4_000, p99Ms: 50 }

const root = path.resolve(import.meta.dirname, '..')
const folder = mkdtempSync(path.join(tmpdir(), 'grokbot-bench-'))
chmodSync(folder, 0o711)
const built = await buildProgram(root)
const simulator = await startSimulator({ folder: path.join(folder, 'github'), github: { webhookSecret: secret } })
const hole = await openBlackHole()
const body = commentOf(bytes)
type Row = Loaded & { lost: number | null; cpuMicros: number }
const rows = new Map<string, Row[]>()

try {
  for (let round = 0; round < Number(values.rounds); round += 1) {
    await measure('bare server, HMAC checked', await startDoor('bare'))
    await measure('the same, each in a file, synced in groups', await startDoor('synced'))
    await measure('Probot, no handler', await startDoor('probot'))
    await measure('Probot, one empty handler', await startDoor('probot-handler'))
    await measure('grokbot serve', await startGrokbot('serve', `well-${round}`, simulator.github.url, simulator.model.url))
    await measure('grokbot serve, GitHub and model stalled', await startGrokbot('serve', `stalled-${round}`, hole.url, hole.url))
    await measureDistributed(`apart-${round}`)
  }
  print([...rows].map(([what, measured]) => [what, medianOf(measured)] as const))
} finally {
  hole.close()
  await simulator.close()
  built.remove()
  rmSync(folder, { recursive: true, force: true })
}

type Door = { origin: string; dataDir: string | null; pid: number; close(): Promise<void> }

async function measure(what: string, door: Door): Promise<void> {
  const before = cpuSecondsOf(door.pid)
  const loaded = await loadDoor({ origin: door.origin, secret, body, clients, seconds })
  const cpuMicros = ((cpuSecondsOf(door.pid) - before) / (loaded.accepted + loaded.refused)) * 1e6
  await door.close()
  const row = { ...loaded, cpuMicros, lost: door.dataDir === null ? null : loaded.accepted - storedIn(door.dataDir) }
  rows.set(what, [...(rows.get(what) ?? []), row])
  process.stderr.write(`measured: ${what}, ${loaded.perSecond.toFixed(0)} a second\n`)
}

/** One app, Redis, and a worker that was stopped. */
async function measureDistributed(name: string): Promise<void> {
  const redis = await startOwnRedis(folder)
  const more = { REDIS_URL: redis.url }
  const app = await startGrokbot('app', name, hole.url, hole.url, more)
  const worker = await startGrokbot('worker', name, hole.url, hole.url, more)
  process.kill(worker.pid, 'SIGSTOP')
  await measure('grokbot app, GitHub and model stalled, worker stopped', app)
  await worker.close()
  await redis.stop()
}

async function startDoor(kind: string): Promise<Door> {
  const argv = [path.join(root, 'bench/intake-door.ts'), kind, secret, path.join(folder, 'rows'), simulator.github.appPrivateKey]
  const child = spawn(process.execPath, argv, {
    env: { PATH: process.env.PATH, NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(createInterface(child.stdout), 'line')
  return { origin: `http://127.0.0.1:${line}`, dataDir: null, pid: child.pid ?? 0, close: () => end(child) }
}

async function startGrokbot(command: string, name: string, githubUrl: string, modelUrl: string, more: Record<string, string> = {}) {
  const dataDir = path.join(folder, name)
  mkdirSync(dataDir, { recursive: true, mode: 0o711 })
  const common = { PATH: process.env.PATH ?? '', GROKBOT_DATA: dataDir, ALLOWED_OWNERS: 'octo', HOST: '127.0.0.1', PORT: '0', ...more }
  const ofApp = {
    APP_ID: String(simulator.github.appId),
    PRIVATE_KEY: simulator.github.appPrivateKey,
    WEBHOOK_SECRET: secret,
    GHE_API_URL: githubUrl,
  }
  const ofWorker = { OPENAI_BASE_URL: modelUrl, OPENAI_API_KEY: 'bench' }
  const env = { ...common, ...(command === 'worker' ? {} : ofApp), ...(command === 'app' ? {} : ofWorker) }
  const child = spawn(process.execPath, [built.program, command], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  for await (const line of createInterface(child.stderr)) {
    const { url, msg } = JSON.parse(line) as { url?: string; msg: string }
    if (!/^(?:listening|waiting)/.test(msg)) continue
    child.stderr.resume()
    return { origin: url ? new URL(url).origin : '', dataDir, pid: child.pid ?? 0, close: () => end(child) }
  }
  throw new Error(`grokbot ${command} did not start`)
}

async function end(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

/** What a delivery costs the process whatever else the machine does: of its own time, with all its threads. */
function cpuSecondsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  const ticksPerSecond = 100
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

function storedIn(dataDir: string): number {
  const database = new Database(path.join(dataDir, 'ledger.db'), { readonly: true })
  const { stored } = database.prepare('select count(*) as stored from deliveries').get() as { stored: number }
  database.close()
  return stored
}

/** Takes connections and never says a word. */
async function openBlackHole() {
  const sockets = new Set<Socket>()
  const server = createServer(socket => void sockets.add(socket.on('error', () => undefined))).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** A comment without a command, as most deliveries are. */
function commentOf(length: number): Buffer {
  const user = { id: 7, login: 'mona', type: 'User' }
  const payload = (text: string) => ({
    action: 'created',
    repository: { id: 1, name: 'parser', owner: { login: 'octo' } },
    installation: { id: 1 },
    sender: user,
    comment: { id: 1, body: text, created_at: '2026-11-30T10:00:00Z', user },
    issue: { id: 1, number: 1, title: 'a', body: null, created_at: '2026-11-30T10:00:00Z', user },
  })
  const empty = JSON.stringify(payload('')).length
  return Buffer.from(JSON.stringify(payload('x'.repeat(Math.max(0, length - empty)))))
}

function medianOf(measured: readonly Row[]): Row {
  const sorted = [...measured].sort((one, other) => one.perSecond - other.perSecond)
  return sorted[(sorted.length - 1) >> 1] as Row
}

function print(shown: readonly (readonly [string, Row])[]): void {
  const [bare = 1, synced = 1] = shown.map(([, { perSecond }]) => perSecond)
  const line = (cells: readonly string[]) => `${cells.map((cell, index) => (index === 0 ? cell.padEnd(54) : cell.padStart(9))).join(' ')}\n`
  process.stdout.write(`${clients} clients, ${body.length} bytes, ${seconds} s each, load ${loadavg()[0]?.toFixed(1)}\n`)
  process.stdout.write(line(['', 'a second', '× bare', '× synced', 'cpu µs', 'p50 ms', 'p99 ms', 'max ms', 'refused', 'lost']))
  for (const [what, { perSecond, cpuMicros, p50Ms, p99Ms, maxMs, refused, lost }] of shown) {
    const figures = [perSecond.toFixed(0), (perSecond / bare).toFixed(2), (perSecond / synced).toFixed(2), cpuMicros.toFixed(0)]
    const times = [p50Ms, p99Ms, maxMs].map(ms => ms.toFixed(1))
    process.stdout.write(line([what, ...figures, ...times, String(refused), lost === null ? '-' : String(lost)]))
  }
  process.stdout.write(`reach: ${reach.perSecond} a second, p99 ${reach.p99Ms} ms; lost: answered 2xx and not in the ledger\n`)
}
