import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { UsageError } from './exit.ts'
import { cliLimits } from './limits.ts'

export type OwnRedis = { url: string; stop(): Promise<void> }

/** A Redis for as long as a demonstration lasts, on a spare port of this machine and without a file. */
export async function startOwnRedis(folder: string): Promise<OwnRedis> {
  const port = await sparePort()
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no']
  const server = spawn('redis-server', [...settings, '--maxmemory-policy', 'noeviction'], { stdio: 'ignore' })
  const failed = once(server, 'error').then(([error]) => error as NodeJS.ErrnoException)
  const exited = once(server, 'exit').catch(() => undefined)
  for (const until = performance.now() + cliLimits.redisStartMs; ; await sleep(20)) {
    const error = await Promise.race([failed, sleep(0)])
    if (error) throw new UsageError('redis-server-missing', `redis-server can not be started: ${error.code}`)
    if (await answers(port)) break
    if (performance.now() > until) throw new Error(`redis-server did not answer on port ${port} within ${cliLimits.redisStartMs} ms`)
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    async stop() {
      server.kill('SIGKILL')
      await exited
    },
  }
}

async function sparePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    // Not yet: that is what is asked.
    return false
  } finally {
    socket.destroy()
  }
}
