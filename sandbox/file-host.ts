import { createFrameReader, encodeFrame, type Frame } from './file-host/frame.ts'
import { engineLimits } from './limits.ts'
import type { FileFault, FileHost } from './sandbox.ts'
import type { Companion } from './start-companion.ts'

export type FileHostClient = FileHost & { close(): Promise<void> }

type Searched = Extract<Awaited<ReturnType<FileHost['search']>>, { kind: 'searched' }>
type Waiting = { resolve: (frame: Frame) => void; timer: NodeJS.Timeout }

/**
 * Starts a file host, without waiting for it, and calls it by frames. A host that breaks (dies, stalls, sends nonsense) answers every open call with the fault
 * `broken` and is started again, at most `fileHostRestartsMax` times in a session.
 */
export function createFileHost(start: () => Promise<Companion | string>): FileHostClient {
  let starts = 0
  let closed = false
  let running: Promise<Connection | string> | null = startOne()

  function startOne(): Promise<Connection | string> {
    starts += 1
    return start().then(
      started => (typeof started === 'string' ? started : connect(started, forget)),
      error => `the file host could not be started: ${error}`,
    )
  }

  async function call(header: Record<string, unknown>, body?: Uint8Array): Promise<Frame> {
    if (closed) return broken('the file host is closed')
    if (running === null) {
      if (starts > engineLimits.fileHostRestartsMax) return broken(`the file host broke ${starts} times and is not started again`)
      running = startOne()
    }
    const connection = await running
    if (typeof connection === 'string') {
      running = null
      return broken(connection)
    }
    return connection.call(header, body)
  }

  function forget(): void {
    running = null
  }

  async function ask<T>(header: Record<string, unknown>, body?: Uint8Array): Promise<T | FileFault> {
    return (await call(header, body)).header as T | FileFault
  }

  return {
    async read(path, maxBytes) {
      const frame = await call({ call: 'read', path, maxBytes })
      if (frame.header.kind !== 'read') return frame.header as FileFault
      return { kind: 'read', content: frame.body, mode: Number(frame.header.mode) }
    },
    async write(path, content) {
      const most = engineLimits.fileHostFrameBytesMax
      if (content.byteLength > most) return { kind: 'fault', code: 'too-large', message: `more than ${most} bytes are not written at once` }
      return ask({ call: 'write', path }, content)
    },
    list: (path, entriesMax) => ask({ call: 'list', path, entriesMax }),
    walk: (path, entriesMax) => ask({ call: 'walk', path, entriesMax }),
    stamp: (path, entriesMax) => ask({ call: 'stamp', path, entriesMax }),
    async search(argv, outputBytesMax, wallMs) {
      const frame = await call({ call: 'search', argv, outputBytesMax, wallMs })
      if (frame.header.kind !== 'searched') return frame.header as FileFault
      return { ...(frame.header as Omit<Searched, 'stdout'>), stdout: frame.body }
    },
    async close() {
      closed = true
      const connection = await running
      if (connection && typeof connection !== 'string') await connection.close()
    },
  }
}

type Connection = { call(header: Record<string, unknown>, body?: Uint8Array): Promise<Frame>; close(): Promise<void> }

function connect(host: Companion, onEnd: () => void): Connection {
  const waiting = new Map<number, Waiting>()
  let nextId = 1
  let over = false

  function end(reason: string): void {
    if (over) return
    over = true
    onEnd()
    host.kill()
    for (const { resolve, timer } of waiting.values()) {
      clearTimeout(timer)
      resolve(broken(reason))
    }
    waiting.clear()
  }

  const read = createFrameReader(
    frame => {
      const id = Number(frame.header.id)
      const call = waiting.get(id)
      if (!call) return
      waiting.delete(id)
      clearTimeout(call.timer)
      const { id: _, ...header } = frame.header
      call.resolve({ header, body: frame.body })
    },
    engineLimits.fileHostHeaderBytesMax,
    engineLimits.fileHostFrameBytesMax,
  )
  host.output.on('data', (chunk: Buffer) => {
    try {
      read(chunk)
    } catch {
      end('the file host sent what is no frame')
    }
  })
  host.ended.then(() => end('the file host has ended'))

  return {
    call(header, body) {
      if (over) return Promise.resolve(broken('the file host has ended'))
      if (waiting.size >= engineLimits.fileHostCallsMax) return Promise.resolve(broken('too many calls of the file host are open'))
      const id = nextId++
      return new Promise(resolve => {
        const timer = setTimeout(
          () => end('the file host did not answer in time'),
          engineLimits.fileHostCallMs + Number(header.wallMs ?? 0),
        )
        waiting.set(id, { resolve, timer })
        host.input.write(encodeFrame({ ...header, id }, body))
      })
    },
    async close() {
      end('the file host is closed')
      await host.ended
    },
  }
}

function broken(message: string): Frame {
  return { header: { kind: 'fault', code: 'broken', message }, body: Buffer.alloc(0) }
}
