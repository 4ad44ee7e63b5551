import { setTimeout as sleep } from 'node:timers/promises'

/** A stop (a cancel, the deadline, a hand-over, a lost task) ends the sleep at once, and its timer with it. */
export async function sleepUnlessStopped(ms: number, stop: AbortSignal): Promise<'slept' | 'stopped'> {
  try {
    await sleep(ms, undefined, { signal: stop })
    return 'slept'
  } catch (error) {
    if (stop.aborted) return 'stopped'
    throw error
  }
}
