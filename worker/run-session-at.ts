import { Worker } from 'node:worker_threads'
import { handOver, type SessionResult } from '../agent/index.ts'
import { entryPath } from '../entries.ts'
import type { WorkerPorts } from './ports.ts'
import { runOrderedSession } from './run-ordered-session.ts'
import type { FromSession, SessionOrder, ToSession } from './session-order.ts'

/** Runs a session in a thread of its own or on this one: the same order, the same messages, the same result. */
export async function runSessionAt(
  place: WorkerPorts['sessionPlace'],
  order: SessionOrder,
  cancel: AbortSignal,
  onMessage: (message: FromSession) => void,
): Promise<SessionResult> {
  return place === 'here' ? await runOrderedSession(order, cancel, onMessage) : await runInThread(order, cancel, onMessage)
}

function runInThread(order: SessionOrder, cancel: AbortSignal, onMessage: (message: FromSession) => void): Promise<SessionResult> {
  // Untracked: the sandbox hands descriptors to streams, which close them themselves. Node would still count them as the
  // thread's and close the same numbers at its end, when they may be this thread's ledger or a socket.
  const thread = new Worker(entryPath('sessionThread'), { workerData: order, trackUnmanagedFds: false })
  return new Promise((resolve, reject) => {
    let result: SessionResult | null = null
    const stop = () => {
      thread.postMessage({ kind: 'cancel', why: cancel.reason === handOver ? 'hand-over' : 'cancelled' } satisfies ToSession)
    }
    if (cancel.aborted) stop()
    cancel.addEventListener('abort', stop, { once: true })
    thread.on('message', (message: FromSession) => {
      if (message.kind === 'ended') result = message.result
      else if (message.kind === 'failed')
        reject(Object.assign(new Error(`the session broke: ${message.message}`), { stack: message.stack }))
      else onMessage(message)
    })
    thread.on('error', reject)
    thread.on('exit', code => {
      cancel.removeEventListener('abort', stop)
      if (result) resolve(result)
      else reject(new Error(`the session's thread ended with code ${code} and no result`))
    })
  })
}
