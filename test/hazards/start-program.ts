import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { program } from '../program.ts'

export type Started = {
  pid: number
  /** Where it listens: scheme, host and port. */
  origin: string
  log(): string
  kill(signal: NodeJS.Signals): void
  /** Kills it and waits for its end. */
  end(): Promise<void>
}

export type StartOptions = {
  args?: readonly string[]
  settings: Readonly<Record<string, string>>
  /** Started by this shell line, which execs "$0" "$@". */
  shell?: string
}

/** One real process of the program; resolves when it says that it listens, rejects when it ends before. */
export async function startProgram(command: string, { args = [], settings, shell }: StartOptions): Promise<Started> {
  const argv = [process.execPath, program, command, ...args]
  const [file = '', ...rest] = shell ? ['bash', '-c', shell, ...argv] : argv
  const child = spawn(file, rest, { env: { PATH: process.env['PATH'] ?? '', ...settings }, stdio: ['ignore', 'ignore', 'pipe'] })
  const lines: string[] = []
  const exited = once(child, 'exit')
  const origin = await new Promise<string>((resolve, reject) => {
    createInterface(child.stderr).on('line', line => {
      lines.push(line)
      const url = /"url":"([^"]+)"/.exec(line)?.[1]
      if (url) resolve(new URL(url).origin)
    })
    exited.then(([code]) => reject(new Error(`${command} ended with ${code}:\n${lines.join('\n')}`)))
  })
  return {
    pid: child.pid ?? 0,
    origin,
    log: () => lines.join('\n'),
    kill: signal => void child.kill(signal),
    async end() {
      child.kill('SIGKILL')
      await exited
    },
  }
}
