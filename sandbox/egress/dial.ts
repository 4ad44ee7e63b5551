import { lookup } from 'node:dns/promises'
import { connect, isIP, type Socket } from 'node:net'
import { isPublicAddress } from './address-ranges.ts'
import type { Endpoint } from './allow-list.ts'
import { egressLimits } from './limits.ts'

/** An endpoint the operator lets the proxy reach although its address is private; `address` fixes what its name means. */
export type PrivateEndpoint = Endpoint & { address?: string }

export type Dialled = { kind: 'connected'; socket: Socket } | { kind: 'refused'; reason: string } | { kind: 'failed'; reason: string }

/** Resolves the name once and dials exactly the address that was judged: a second look-up could answer differently. */
export async function dial(endpoint: Endpoint, permitted: readonly PrivateEndpoint[]): Promise<Dialled> {
  const exception = permitted.find(entry => entry.host === endpoint.host && entry.port === endpoint.port)
  const addresses = exception?.address ? [exception.address] : await resolve(endpoint.host)
  if (addresses === null) return { kind: 'failed', reason: 'the name does not resolve' }
  const address = chooseAddress(addresses, exception !== undefined)
  if (address === undefined) return { kind: 'refused', reason: 'the name resolves to a private address' }
  return connectTo(address, endpoint.port)
}

/** The first address that may be dialled: a private one only where the operator named the endpoint. */
export function chooseAddress(addresses: readonly string[], privateToo: boolean): string | undefined {
  return privateToo ? addresses[0] : addresses.find(isPublicAddress)
}

async function resolve(host: string): Promise<string[] | null> {
  if (isIP(host)) return [host]
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<null>(settle => {
    timer = setTimeout(() => settle(null), egressLimits.resolveMs)
  })
  try {
    const found = await Promise.race([lookup(host, { all: true, order: 'verbatim' }), timeout])
    return found === null ? null : found.map(({ address }) => address)
  } catch {
    return null
  } finally {
    clearTimeout(timer)
  }
}

function connectTo(address: string, port: number): Promise<Dialled> {
  return new Promise(settle => {
    const socket = connect({ host: address, port, allowHalfOpen: true, autoSelectFamily: false })
    const timer = setTimeout(() => socket.destroy(new Error('no answer in time')), egressLimits.connectMs)
    socket.once('connect', () => {
      clearTimeout(timer)
      settle({ kind: 'connected', socket })
    })
    socket.once('error', error => {
      clearTimeout(timer)
      settle({ kind: 'failed', reason: (error as NodeJS.ErrnoException).code ?? error.message })
    })
  })
}
