import { parentPort } from 'node:worker_threads'
import type { FromSession, ToSession } from '../../worker/session-order.ts'

/** A session's thread that says what it is told to, and then lives on, as one with a forgotten handle does. */
setInterval(() => undefined, 1_000)
parentPort?.on('message', (message: ToSession) => {
  if (message.kind !== 'order') return
  const failed = message.order.start.request.text === 'failed'
  const answer: FromSession = failed ? { kind: 'failed', message: 'as told', stack: '' } : { kind: 'ended', result: { kind: 'fenced' } }
  parentPort?.postMessage(answer)
})
