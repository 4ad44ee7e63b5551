import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { Redis } from 'ioredis'

export type TestRedis = {
  url: string
  port: number
  /** One command, as words; waits until Redis is there. */
  command(name: string, ...words: (string | number)[]): Promise<unknown>
  /** Redis answers nobody for so long, whoever asks. */
  pause(ms: number): Promise<void>
  /** All keys are gone, or all scripts. */
  flush(what?: 'keys' | 'scripts'): Promise<void>
  /** As after a power cut: nothing is kept. `args` replace those of the start. */
  restart(args?: readonly string[]): Promise<void>
  /** Ends the server and leaves what reads from it without one, until `restart`. */
  kill(): Promise<void>
  stop(): Promise<void>
}

export type RedisOptions = {
  /** Of redis-server, such as `['--maxmemory-policy', 'allkeys-lru']`. */
  args?: readonly string[]
  password?: string
  /** Files in PEM. Then nothing but TLS is spoken. */
  tls?: { certificate: string; key: string }
}

/** A real Redis on a spare port of 127.0.0.1, in a folder of its own, that keeps nothing on disk. */
export async function startRedis(options: RedisOptions = {}): Promise<TestRedis> {
  const folder = mkdtempSync(path.join(tmpdir(), 'grokbot-redis-'))
  const port = await sparePort()
  const { password, tls } = options
  const fixed = [
    ...['--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no', '--daemonize', 'no'],
    ...(tls ? ['--port', '0', '--tls-port', String(port), '--tls-auth-clients', 'no'] : ['--port', String(port)]),
    ...(tls ? ['--tls-cert-file', tls.certificate, '--tls-key-file', tls.key] : []),
    ...(password === undefined ? [] : ['--requirepass', password]),
  ]
  let args = options.args ?? []
  let server = await startServer([...fixed, ...args])
  const client = new Redis(port, '127.0.0.1', {
    lazyConnect: true,
    maxRetriesPerRequest: null,
    retryStrategy: () => 20,
    ...(password === undefined ? {} : { password }),
    ...(tls ? { tls: { rejectUnauthorized: false } } : {}),
  })
  client.on('error', () => undefined)
  const command = (name: string, ...words: (string | number)[]) => client.call(name, ...words)
  const kill = async () => {
    const ended = server.exitCode === null && server.signalCode === null ? once(server, 'exit') : null
    server.kill('SIGKILL')
    await ended
  }
  const login = password === undefined ? '' : `:${encodeURIComponent(password)}@`
  return {
    url: `${tls ? 'rediss' : 'redis'}://${login}127.0.0.1:${port}`,
    port,
    command,
    pause: async ms => void (await command('CLIENT', 'PAUSE', ms, 'ALL')),
    flush: async what => void (await (what === 'scripts' ? command('SCRIPT', 'FLUSH') : command('FLUSHALL'))),
    async restart(given = args) {
      args = given
      await kill()
      server = await startServer([...fixed, ...args])
    },
    kill,
    async stop() {
      client.disconnect()
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function startServer(args: readonly string[]): Promise<ChildProcess> {
  const server = spawn('redis-server', [...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const said: string[] = []
  const lines = createInterface({ input: server.stdout })
  const ready = Promise.withResolvers<void>()
  lines.on('line', line => {
    said.push(line)
    if (line.includes('Ready to accept connections')) ready.resolve()
  })
  server.once('exit', () => ready.reject(new Error(`redis-server ended: ${said.join('\n')}`)))
  server.once('error', ready.reject)
  await ready.promise
  return server
}

async function sparePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
