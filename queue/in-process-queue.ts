import type { Queue } from './queue.ts'

/** The driver of one-process set-ups: rings reach the listener of the same process in the next tick. */
export function createInProcessQueue(): Queue {
  let listener: ((taskId: string) => void) | null = null
  return {
    async ring(taskId) {
      if (listener === null) return 'lost'
      setImmediate(() => listener?.(taskId))
      return 'rung'
    },
    listen(onRing) {
      if (listener !== null) throw new Error('the queue has a listener already')
      listener = onRing
      return () => {
        if (listener === onRing) listener = null
      }
    },
    health: () => ({ kind: 'in-process' }),
    async close() {
      listener = null
    },
  }
}
