import { type MessagePort, parentPort } from 'node:worker_threads'
import { handOver, loadSampler } from '../agent/index.ts'
import { armCrashpoint, registerSecret } from '../telemetry/index.ts'
import { runOrderedSession } from './run-ordered-session.ts'
import type { FromSession, SessionOrder, ToSession } from './session-order.ts'

/** The entry of a session's own thread: one order in, progress and one result out, then the thread ends. */
const port = parentPort as MessagePort
const cancel = new AbortController()
const post = (message: FromSession) => port.postMessage(message)

void loadSampler()
port.on('message', (message: ToSession) => {
  if (message.kind === 'order') run(message.order, message.secrets)
  else if (message.kind === 'cancel') cancel.abort(message.why === 'hand-over' ? handOver : new Error('stopped'))
  else port.close()
})

function run(order: SessionOrder, secrets: readonly string[]): void {
  if (order.crashpoint) armCrashpoint(order.crashpoint)
  for (const secret of [order.endpoint.apiKey, ...secrets]) registerSecret(secret)
  runOrderedSession(order, cancel.signal, post)
    .then(
      result => post({ kind: 'ended', result }),
      (error: Error) => post({ kind: 'failed', message: error.message, stack: error.stack ?? '' }),
    )
    .finally(() => port.close())
}
