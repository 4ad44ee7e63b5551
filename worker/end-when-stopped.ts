import type { Worker } from 'node:worker_threads'

/**
 * Ends a thread that is still there `graceMs` after the stop: a session that hangs in its own code hears no message, and
 * must hold neither its task nor this worker. Its sandboxes die with it. Returns how to call it off.
 */
export function endWhenStopped(thread: Pick<Worker, 'terminate'>, stop: AbortSignal, graceMs: number): () => void {
  let timer: NodeJS.Timeout | undefined
  const onStop = () => {
    timer = setTimeout(() => void thread.terminate(), graceMs)
  }
  if (stop.aborted) onStop()
  else stop.addEventListener('abort', onStop, { once: true })
  return () => {
    clearTimeout(timer)
    stop.removeEventListener('abort', onStop)
  }
}
