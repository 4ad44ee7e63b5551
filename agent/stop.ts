/** Why a session must stop, known to everything that waits. The first reason stays. */
export type Stop = {
  signal: AbortSignal
  reason(): StopReason | null
  /** The value of a promise, or null as soon as the session must stop; what is left behind is not waited for. */
  race<T>(promise: Promise<T>): Promise<T | null>
  /** A newer attempt owns the task. */
  fence(): void
  close(): void
}

/** `hand-over`: the worker goes away and another goes on; nothing is ended. */
type StopReason = 'cancelled' | 'deadline' | 'fenced' | 'hand-over'

/** What a worker aborts `cancel` with when the task is to be taken over instead of ended. */
export const handOver = 'hand-over'

/** The longest wait a timer of Node can hold. */
const timerMsMax = 2_147_483_647

export function openStop(cancel: AbortSignal, deadlineAt: number, now: () => number): Stop {
  const controller = new AbortController()
  let reason: StopReason | null = null
  const stop = (why: StopReason) => {
    if (reason !== null) return
    reason = why
    controller.abort(why)
  }
  const onCancel = () => stop(cancel.reason === handOver ? 'hand-over' : 'cancelled')
  if (cancel.aborted) onCancel()
  else cancel.addEventListener('abort', onCancel, { once: true })
  const left = deadlineAt - now()
  if (left <= 0) stop('deadline')
  const timer = setTimeout(stop, Math.min(Math.max(0, left), timerMsMax), 'deadline')
  return {
    signal: controller.signal,
    reason: () => reason,
    race(promise) {
      if (reason !== null) {
        promise.catch(() => {})
        return Promise.resolve(null)
      }
      const { promise: stopped, resolve: onStop } = Promise.withResolvers<null>()
      const listener = () => onStop(null)
      controller.signal.addEventListener('abort', listener, { once: true })
      return Promise.race([promise, stopped]).finally(() => controller.signal.removeEventListener('abort', listener))
    },
    fence: () => stop('fenced'),
    close() {
      clearTimeout(timer)
      // Whatever was left behind, by a stop or by a throw, must not go on.
      controller.abort('closed')
      cancel.removeEventListener('abort', onCancel)
    },
  }
}
