import type { QueueHealth } from '../queue/index.ts'

export type LivenessPorts = {
  /** What has to go round in this process, and when each last did, in UTC milliseconds. */
  loops: readonly { name: string; turnedAt(): number }[]
  queueHealth(): QueueHealth
  windowMs: number
  now: number
}

/**
 * Why this process should be started again, null = it lives. It is asked what it really did and not whether it answers: a
 * process whose wait never ends still answers. A Redis that is away is no reason, since the process is trying to reach it
 * and another one could not either; one that is said to be up and is not heard of is one.
 */
export function whyNotAlive({ loops, queueHealth, windowMs, now }: LivenessPorts): string | null {
  const since = now - windowMs
  const stuck = loops.find(({ turnedAt }) => turnedAt() < since)
  if (stuck) return `${stuck.name} has not turned for ${windowMs / 1_000} s`
  const queue = queueHealth()
  if (queue.kind !== 'redis' || queue.state !== 'up' || (queue.heardAt ?? 0) >= since) return null
  return `the queue has not been heard of for ${windowMs / 1_000} s`
}
