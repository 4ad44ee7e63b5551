import { isIP } from 'node:net'

export type Endpoint = { host: string; port: number }

/**
 * Reads `host:port` the one way it can be meant, or not at all: lower case, no trailing dot, no user, no escapes, no
 * number that some resolver would take for an address. What is compared with the allow-list is exactly what is resolved.
 */
export function parseAuthority(text: string, defaultPort: number | null): Endpoint | null {
  const match = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9.-]{1,253})(?::([1-9][0-9]{0,4}))?$/.exec(text)
  const name = match?.[1]
  if (!name) return null
  const port = match[2] === undefined ? defaultPort : Number(match[2])
  if (port === null || port > 65_535) return null
  const host = name.startsWith('[') ? name.slice(1, -1) : name
  return isPlainHost(host, name.startsWith('[')) ? { host, port } : null
}

function isPlainHost(host: string, bracketed: boolean): boolean {
  if (bracketed) return isIP(host) === 6
  if (isIP(host) === 4) return true
  const labels = host.split('.')
  const last = labels.at(-1) as string
  // "0x7f.1", "2130706433" and "127.1" are addresses to the C library although they are none to Node.
  if (/^(?:[0-9]+|0x[0-9a-f]*)$/.test(last)) return false
  return labels.every(label => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(label))
}

/** True when the list has exactly this host and port; `*` as a host stands for every name at that port. */
export function isListed(endpoint: Endpoint, list: readonly Endpoint[]): boolean {
  return list.some(entry => entry.port === endpoint.port && (entry.host === '*' || entry.host === endpoint.host))
}

/** The first entry that could never match what `parseAuthority` gives; a list with such a typo is refused whole. */
export function findUnusableEntry(list: readonly Endpoint[]): Endpoint | null {
  return (
    list.find(({ host, port }) => {
      if (host === '*') return !Number.isInteger(port) || port < 1 || port > 65_535
      return parseAuthority(`${host.includes(':') ? `[${host}]` : host}:${port}`, null) === null
    }) ?? null
  )
}
