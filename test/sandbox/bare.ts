import { spawn } from 'node:child_process'
import { mode, user } from './open.ts'

/**
 * The red half of an attack test: the same attack as the same user without a sandbox. It has to succeed, or the green half
 * proves nothing.
 */
export function bare(argv: readonly [string, ...string[]], options: { cwd?: string; env?: Record<string, string> } = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const [program, ...args] = argv
    const child = spawn(program, args, {
      cwd: options.cwd ?? '/',
      env: { PATH: '/usr/bin:/bin', ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 20_000,
      ...(mode === 'slots' ? { uid: user.uid, gid: user.gid } : {}),
    })
    let output = ''
    child.stdout.on('data', chunk => {
      output += chunk
    })
    child.stderr.on('data', chunk => {
      output += chunk
    })
    child.once('error', reject)
    // `exit`, not `close`: what the attack left behind holds the pipes open, which is the point of some of them.
    child.once('exit', () => setTimeout(() => resolve(output), 20))
  })
}

/** A host process of the sandbox user's own, with a secret in its environment: what a naive worker would be to its commands. */
export async function startVictim(secret: string): Promise<{ pid: number; stop(): Promise<void> }> {
  const child = spawn('/bin/sleep', ['600'], {
    env: { VICTIM_SECRET: secret },
    cwd: '/',
    stdio: 'ignore',
    ...(mode === 'slots' ? { uid: user.uid, gid: user.gid } : {}),
  })
  await new Promise(resolve => child.once('spawn', resolve))
  const gone = new Promise<void>(resolve => child.once('exit', () => resolve()))
  return {
    pid: child.pid as number,
    async stop() {
      child.kill('SIGKILL')
      await gone
    },
  }
}
