import { Writable } from 'node:stream'
import { expect } from 'vitest'
import { openRedisQueue, type Queue, type QueueLimits, queueLimits } from '../../queue/index.ts'
import { createLogger } from '../../telemetry/index.ts'

/** Polls often, and is patient: whatever else runs on this machine, no time-out is why a test fails. */
const patientLimits: QueueLimits = {
  ...queueLimits,
  ringWaitMs: 10_000,
  pollMs: 40,
  commandWaitMs: 10_000,
  connectWaitMs: 10_000,
  pollWaitMs: 20_000,
  reconnectWaitMs: 5,
  reconnectWaitMsMax: 40,
}

/** For what stays silent: the time until that is noticed is the time the test takes. */
export const impatient = { ringWaitMs: 200, commandWaitMs: 250, connectWaitMs: 250, closeWaitMs: 300 }

export type Line = { level: number; msg: string; reason?: string }

/** A queue with the log lines it wrote, as they are written. */
export type Recorded = Queue & {
  lines: Line[]
  /** Everything that was written, byte for byte. */
  written(): string
  /** The next line with this message, or one that was written since the last call. */
  says(message: string): Promise<Line>
}

export const isUp = 'Redis is up'
export const isAway = 'Redis is not to be reached; rings are lost, the sweep finds their tasks'
export const isRefused = 'Redis can not be used; rings are lost, the sweep finds their tasks'

export function openRecorded(url: string, limits: Partial<QueueLimits> = {}, prefix?: string): Recorded {
  const lines: Line[] = []
  let [written, told] = ['', 0]
  const waiting: (() => void)[] = []
  const destination = new Writable({
    write(chunk, _encoding, done) {
      written += chunk
      const { level, msg, reason } = JSON.parse(String(chunk))
      lines.push({ level, msg, ...(reason === undefined ? {} : { reason }) })
      for (const wake of waiting.splice(0)) wake()
      done()
    },
  })
  const queue = openRedisQueue({
    url,
    logger: createLogger('info', destination),
    limits: { ...patientLimits, ...limits },
    now: Date.now,
    ...(prefix === undefined ? {} : { prefix }),
  })
  return {
    ...queue,
    lines,
    written: () => written,
    async says(message) {
      for (;;) {
        const found = lines.findIndex((line, index) => index >= told && line.msg === message)
        if (found >= 0) {
          told = found + 1
          return lines[found] as Line
        }
        await new Promise<void>(resolve => waiting.push(resolve))
      }
    },
  }
}

export type Listener = {
  heard: string[]
  /** Resolves when this task was rung, or has been. */
  hears(taskId: string): Promise<void>
  stop(): void
}

export function listenTo(queue: Queue): Listener {
  const heard: string[] = []
  const waiting: (() => void)[] = []
  const stop = queue.listen(taskId => {
    heard.push(taskId)
    for (const wake of waiting.splice(0)) wake()
  })
  return {
    heard,
    async hears(taskId) {
      while (!heard.includes(taskId)) await new Promise<void>(resolve => waiting.push(resolve))
    },
    stop,
  }
}

export async function untilWaiting(queue: Queue, waiting: number): Promise<void> {
  await expect.poll(() => queue.health(), { interval: 5, timeout: 5_000 }).toMatchObject({ waiting })
}
