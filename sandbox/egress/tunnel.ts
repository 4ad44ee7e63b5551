import type { Socket } from 'node:net'
import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Endpoint } from './allow-list.ts'
import { type Allowance, count, draw } from './allowance.ts'
import { readHelloName } from './client-hello.ts'
import { egressLimits } from './limits.ts'

export type Tunnel = { kind: 'carried' } | { kind: 'plain' } | { kind: 'ended'; reason: string }

/**
 * Joins the two ends of a CONNECT once the client's first bytes are a TLS hello for the very host it asked for. (A server of
 * many tenants can still be asked for another one inside the encryption: see docs.) `plain`: the client speaks HTTP; its
 * bytes are back in the stream, to be read as requests.
 */
export async function openTunnel(client: Duplex, server: Socket, head: Buffer, endpoint: Endpoint, allowance: Allowance): Promise<Tunnel> {
  const endClient = () => client.destroy()
  const endServer = () => server.destroy()
  server.on('error', endClient).on('close', endClient).setTimeout(egressLimits.idleMs, endServer)
  client.on('close', endServer)
  const first = await firstBytes(client, head)
  if (first !== null && startsRequest.test(first.toString('latin1', 0, 16))) {
    client.off('close', endServer)
    server.off('close', endClient).off('error', endClient).destroy()
    client.unshift(first)
    return { kind: 'plain' }
  }
  const fault = first === null ? 'the tunnel carried nothing in time' : helloFault(first, endpoint)
  if (fault !== null || first === null) {
    client.destroy()
    server.destroy()
    return { kind: 'ended', reason: fault ?? '' }
  }
  if (!draw(allowance, 'sentLeft', first.byteLength)) server.destroy()
  server.write(first)
  count(allowance, 'sentLeft', client, server)
  count(allowance, 'receivedLeft', server, server)
  client.pipe(server)
  server.pipe(client)
  return { kind: 'carried' }
}

const startsRequest = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) \//

function helloFault(first: Buffer, endpoint: Endpoint): string | null {
  const hello = readHelloName(first)
  if (hello.kind === 'name') return hello.name === endpoint.host ? null : 'the tunnel is for another server name'
  if (hello.kind === 'nameless' && isIP(endpoint.host)) return null
  return 'the tunnel does not start with TLS for that host'
}

/** Collects bytes until the hello is whole; the rest stays in the stream. Null: it never came. */
function firstBytes(client: Duplex, head: Buffer): Promise<Buffer | null> {
  return new Promise(resolve => {
    let bytes = head
    const timer = setTimeout(() => settle(null), egressLimits.clientHelloMs)
    const look = () => {
      if (readHelloName(bytes).kind !== 'more' || bytes.byteLength > egressLimits.clientHelloBytesMax) settle(bytes)
    }
    const onData = (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk])
      look()
    }
    const onEnd = () => settle(null)
    const settle = (first: Buffer | null) => {
      clearTimeout(timer)
      client.off('data', onData).off('end', onEnd).off('close', onEnd)
      client.pause()
      resolve(first)
    }
    client.on('data', onData).on('end', onEnd).on('close', onEnd)
    look()
  })
}
