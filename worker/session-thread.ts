import { parentPort, workerData } from 'node:worker_threads'
import { handOver } from '../agent/index.ts'
import { armCrashpoint, registerSecret } from '../telemetry/index.ts'
import { runOrderedSession } from './run-ordered-session.ts'
import type { FromSession, SessionOrder, ToSession } from './session-order.ts'

/** The entry of a session's own thread: one order in, progress and one result out, then the thread ends. */
const port = parentPort
if (port === null) throw new Error('session-thread.ts is the entry of a worker thread')
const order = workerData as SessionOrder
const cancel = new AbortController()
const post = (message: FromSession) => port.postMessage(message)

if (order.crashpoint) armCrashpoint(order.crashpoint)
registerSecret(order.endpoint.apiKey)
port.on('message', (message: ToSession) => {
  if (message.kind === 'cancel') cancel.abort(message.why === 'hand-over' ? handOver : new Error('stopped'))
})
runOrderedSession(order, cancel.signal, post)
  .then(
    result => post({ kind: 'ended', result }),
    (error: Error) => post({ kind: 'failed', message: error.message, stack: error.stack ?? '' }),
  )
  .finally(() => port.close())
