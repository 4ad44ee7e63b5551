import { exitCodes } from '../exit.ts'

export type Interrupts = { close(): void }

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * The first signal asks the run to stop and keep its work; the second ends the process at once. Sandboxes die with it,
 * and what was recorded stays: `run --resume` goes on from there.
 */
export function listenForInterrupts(onFirst: (signal: string) => void): Interrupts {
  let seen = 0
  const listener = (signal: NodeJS.Signals) => {
    seen += 1
    if (seen > 1) process.exit(exitCodes.cancelled)
    onFirst(signal)
  }
  for (const signal of signals) process.on(signal, listener)
  return {
    close: () => {
      for (const signal of signals) process.off(signal, listener)
    },
  }
}

export type Keys = { close(): void }

/** Single keys while a terminal is attached. In this mode the terminal makes no signals, so they are made here. */
export function listenForKeys(input: NodeJS.ReadStream, onKey: (key: 'c' | 'd') => void): Keys {
  if (!input.isTTY) return { close: () => undefined }
  const restore = () => void input.setRawMode(false)
  const onData = (bytes: Buffer) => {
    for (const key of bytes.toString('latin1')) {
      if (key === 'c' || key === 'd') onKey(key)
      else if (key === '\u0003') process.kill(process.pid, 'SIGINT')
      else if (key === '\u001a') suspend(input)
    }
  }
  input.setRawMode(true)
  input.on('data', onData)
  input.resume()
  // Whatever ends this process, the person's shell gets its terminal back as it was.
  process.once('exit', restore)
  return {
    close() {
      process.off('exit', restore)
      input.off('data', onData)
      input.pause()
      restore()
    },
  }
}

function suspend(input: NodeJS.ReadStream): void {
  input.setRawMode(false)
  process.once('SIGCONT', () => input.setRawMode(true))
  process.kill(process.pid, 'SIGTSTP')
}
