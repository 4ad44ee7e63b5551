import { EventEmitter } from 'node:events'
import type { Queue } from './queue.ts'

/** The driver of one-process set-ups: rings reach the listener of the same process in the next tick. */
export function createInProcessQueue(): Queue {
  const bell = new EventEmitter<{ ring: [string] }>()
  return {
    async ring(taskId) {
      setImmediate(() => bell.emit('ring', taskId))
    },
    listen(onRing) {
      bell.on('ring', onRing)
      return () => bell.off('ring', onRing)
    },
    async close() {
      bell.removeAllListeners()
    },
  }
}
