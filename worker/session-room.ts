import { Worker } from 'node:worker_threads'
import { handOver, loadSampler, type SessionResult } from '../agent/index.ts'
import { entryPath } from '../entries.ts'
import { lastingSecrets } from '../telemetry/index.ts'
import type { WorkerPorts } from './ports.ts'
import { runOrderedSession } from './run-ordered-session.ts'
import type { FromSession, SessionOrder, ToSession } from './session-order.ts'

/** Where the one session of an attempt runs: a thread of its own or this one, with the same order, messages and result. */
export type SessionRoom = {
  /** Loads what the session needs, on the thread it will run on: to be called when this one would only wait. */
  prepare(): void
  run(order: SessionOrder, cancel: AbortSignal, onMessage: (message: FromSession) => void): Promise<SessionResult | EndedByForce>
  /** For a session that was never run. Safe after one that was. */
  close(): Promise<void>
}

/** It did not end within `cancelGraceMs` of being stopped, so its thread was ended, and its sandboxes with it. */
export type EndedByForce = { kind: 'ended-by-force' }

export type SessionRoomOptions = {
  place: WorkerPorts['sessionPlace']
  /** The thread is opened at once, and loads its code while the mirror and the work tree are made ready. */
  ahead: boolean
  /** So long the thread may take to end by itself: after a stop, after its result, and when there is no order for it. */
  graceMs: number
  entry?: string
}

export function openSessionRoom({ place, ahead, graceMs, entry = entryPath('sessionThread') }: SessionRoomOptions): SessionRoom {
  if (place === 'here') return { prepare: () => void loadSampler(), run: runOrderedSession, close: async () => undefined }
  let opened = ahead ? openThread(entry) : null
  return {
    // Its thread does so by itself.
    prepare: () => undefined,
    run(order, cancel, onMessage) {
      opened ??= openThread(entry)
      return runInThread(opened, order, { cancel, graceMs, onMessage })
    },
    async close() {
      if (opened === null) return
      const { thread, ended } = opened
      thread.postMessage({ kind: 'leave' } satisfies ToSession)
      const patience = setTimeout(() => void thread.terminate(), graceMs)
      await ended
      clearTimeout(patience)
    },
  }
}

type Opened = { thread: Worker; ended: Promise<{ error: Error }> }

function openThread(entry: string): Opened {
  // Untracked: the sandbox hands descriptors to streams, which close them themselves. Node would still count them as the
  // thread's and close the same numbers at its end, when they may be this thread's ledger or a socket.
  const thread = new Worker(entry, { trackUnmanagedFds: false })
  const ended = new Promise<{ error: Error }>(resolve => {
    thread.once('error', error => resolve({ error }))
    thread.once('exit', code => resolve({ error: new Error(`the session's thread ended with code ${code} and no result`) }))
  })
  return { thread, ended }
}

function runInThread(
  { thread, ended }: Opened,
  order: SessionOrder,
  { cancel, graceMs, onMessage }: { cancel: AbortSignal; graceMs: number; onMessage(message: FromSession): void },
): Promise<SessionResult | EndedByForce> {
  const send = (message: ToSession) => thread.postMessage(message)
  return new Promise((resolve, reject) => {
    let result: SessionResult | EndedByForce | null = null
    let patience: NodeJS.Timeout | undefined
    const stop = () => {
      send({ kind: 'cancel', why: cancel.reason === handOver ? 'hand-over' : 'cancelled' })
      waitForExit()
    }
    // A thread that has said its result and does not go, for a handle it forgot, holds nothing up either.
    const waitForExit = () => {
      clearTimeout(patience)
      patience = setTimeout(() => {
        result ??= { kind: 'ended-by-force' }
        void thread.terminate()
      }, graceMs)
    }
    thread.on('message', (message: FromSession) => {
      if (message.kind === 'progress') return onMessage(message)
      if (message.kind === 'ended') result = message.result
      else reject(Object.assign(new Error(`the session broke: ${message.message}`), { stack: message.stack }))
      waitForExit()
    })
    ended.then(({ error }) => {
      clearTimeout(patience)
      cancel.removeEventListener('abort', stop)
      if (result) resolve(result)
      else reject(error)
    })
    send({ kind: 'order', order, secrets: lastingSecrets() })
    if (cancel.aborted) stop()
    cancel.addEventListener('abort', stop, { once: true })
  })
}
