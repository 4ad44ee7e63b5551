/** Who failed, and when it may be tried again. In memory: a new process tries everything once, at once. */
export type BackOff = {
  /** False: its wait is not over yet. */
  due(key: string): boolean
  /** Waits twice as long as after the failure before, and never shorter than `atLeastMs`; returns how long. */
  failed(key: string, atLeastMs?: number | null): number
  succeeded(key: string): void
  /** How often it has failed in this process since it last succeeded. */
  failures(key: string): number
  /** How many are not due now. */
  waiting(): number
}

/** The operator's limits it goes by; `rateLimitWaitMsMax`: what GitHub asks for is honoured up to here. */
export type RetryLimits = { retryWaitMs: number; retryWaitMsMax: number; rateLimitWaitMsMax: number }

export function createBackOff(limits: () => RetryLimits, now: () => number): BackOff {
  const failures = new Map<string, { times: number; dueAt: number }>()
  return {
    due: key => (failures.get(key)?.dueAt ?? 0) <= now(),
    failed(key, atLeastMs = null) {
      const { retryWaitMs, retryWaitMsMax, rateLimitWaitMsMax } = limits()
      const times = (failures.get(key)?.times ?? 0) + 1
      const growing = Math.min(retryWaitMs * 2 ** (times - 1), retryWaitMsMax)
      const waitMs = Math.max(growing, Math.min(atLeastMs ?? 0, rateLimitWaitMsMax))
      failures.set(key, { times, dueAt: now() + waitMs })
      return waitMs
    },
    succeeded: key => void failures.delete(key),
    failures: key => failures.get(key)?.times ?? 0,
    waiting() {
      const { retryWaitMsMax } = limits()
      let waiting = 0
      for (const [key, { dueAt }] of failures) {
        if (dueAt > now()) waiting += 1
        // Long due and not tried: somebody else did it, or it is gone.
        else if (dueAt + retryWaitMsMax < now()) failures.delete(key)
      }
      return waiting
    },
  }
}
