import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

export type CutProxy = {
  port: number
  /** Connections that are open now. */
  connections(): number
  /** Ends every connection; who connects is refused by an end of its connection. */
  cut(): void
  /**
   * Half-open: every connection stays and nothing passes any more, also on new ones. With 'answers' what is sent still arrives
   * and only its answer does not: the server did it and nobody knows.
   */
  hold(what?: 'everything' | 'answers'): void
  /** New connections pass again. Those that were held stay silent for ever, as after a lost state of a network in between. */
  restore(): void
  close(): Promise<void>
}

type Mode = 'passing' | 'cut' | 'everything' | 'answers'
type Pair = { near: Socket; far: Socket; mode: Mode }

/** Stands between a client and a TCP server on 127.0.0.1, and breaks what passes in the ways of a network. */
export async function startCutProxy(serverPort: number): Promise<CutProxy> {
  let mode: Mode = 'passing'
  const pairs = new Set<Pair>()
  const server = createServer({ allowHalfOpen: true }, near => {
    if (mode === 'cut') return near.destroy()
    const pair: Pair = { near, far: connect({ port: serverPort, host: '127.0.0.1', allowHalfOpen: true }), mode }
    pairs.add(pair)
    const end = () => {
      pairs.delete(pair)
      pair.near.destroy()
      pair.far.destroy()
    }
    for (const socket of [pair.near, pair.far]) socket.on('error', () => undefined).on('close', end)
    // An end is held like everything else: nobody answers it.
    const [sent, answered] = [() => pair.mode !== 'everything', () => pair.mode === 'passing']
    pair.near.on('data', bytes => void (sent() && pair.far.write(bytes))).on('end', () => void (sent() && pair.far.end()))
    pair.far.on('data', bytes => void (answered() && pair.near.write(bytes))).on('end', () => void (answered() && pair.near.end()))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const destroyAll = () => {
    for (const { near } of pairs) near.destroy()
  }
  return {
    port: address.port,
    connections: () => pairs.size,
    cut() {
      mode = 'cut'
      destroyAll()
    },
    hold(what = 'everything') {
      mode = what
      for (const pair of pairs) pair.mode = what
    },
    restore() {
      mode = 'passing'
    },
    async close() {
      destroyAll()
      server.close()
      await once(server, 'close')
    },
  }
}
