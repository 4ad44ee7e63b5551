import type { SandboxReport } from '../domain/index.ts'
import { engineLimits } from './limits.ts'
import type { ParkedSandbox } from './parked-sandbox.ts'

export type Parked = { kind: 'parked'; sandbox: ParkedSandbox; report: SandboxReport }
export type NotParked = { kind: 'unavailable'; reason: string; missing: readonly string[] }

export type Pool = {
  /** A parked sandbox at once, or the next one that gets ready, or why there is none. */
  take(): Promise<Parked | NotParked>
  /** Adds one that was started outside. */
  put(parked: Parked): void
  /** To be called when a command has ended: starting the next sandbox while it runs would compete with it. */
  refill(): void
  /** Ends every parked sandbox and waits for those that are being started. */
  close(): Promise<void>
}

/** Keeps `size` sandboxes started ahead. A start that fails is told to who waits for it and is not repeated by itself. */
export function createPool(size: number, park: () => Promise<Parked | NotParked>): Pool {
  const target = Math.min(size, engineLimits.poolSizeMax)
  const ready: Parked[] = []
  const waiting: ((parked: Parked | NotParked) => void)[] = []
  const starting = new Set<Promise<void>>()
  let scheduled = false
  let closed = false

  function start(): void {
    const started = park()
      .then(deliver, error => deliver({ kind: 'unavailable', reason: `the sandbox could not be started: ${error}`, missing: [] }))
      .finally(() => starting.delete(started))
    starting.add(started)
  }

  async function deliver(parked: Parked | NotParked): Promise<void> {
    const waiter = waiting.shift()
    if (waiter) waiter(parked)
    else if (parked.kind !== 'parked') return
    else if (closed) await parked.sandbox.discard()
    else ready.push(parked)
    if (parked.kind === 'parked') refill()
  }

  function refill(): void {
    if (closed || scheduled) return
    scheduled = true
    // One at a time and after everything that is due now: spawning blocks this thread for a millisecond.
    setImmediate(() => {
      scheduled = false
      if (!closed && ready.length + starting.size < target) start()
    })
  }

  return {
    async take() {
      if (closed) return { kind: 'unavailable', reason: 'the sandbox is closed', missing: [] }
      for (let parked = ready.shift(); parked; parked = ready.shift()) {
        if (parked.sandbox.alive()) return parked
        void parked.sandbox.discard()
      }
      return new Promise(resolve => {
        waiting.push(resolve)
        if (starting.size < waiting.length) start()
      })
    },
    put: parked => {
      ready.push(parked)
    },
    refill,
    async close() {
      closed = true
      await Promise.all(ready.splice(0).map(parked => parked.sandbox.discard()))
      await Promise.all(starting)
    },
  }
}
