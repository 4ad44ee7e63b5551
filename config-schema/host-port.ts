import * as z from 'zod'

const portMax = 65_535

/**
 * A place to reach, `host:port`. Hosts are the same in upper and lower case, so they are kept in lower case, as the proxy
 * compares them. What could never match there is an error here, where the file has a line and a column.
 */
export const HostPort = z
  .string()
  .toLowerCase()
  .refine(isHostPort, 'must be host:port with a plain host name, such as registry.example:443')

function isHostPort(text: string): boolean {
  const [, host = '', port = ''] = /^(\*|[a-z0-9.-]{1,253}):([1-9][0-9]{0,4})$/.exec(text) ?? []
  return host !== '' && Number(port) <= portMax && (host === '*' || isPlainHost(host))
}

/** `0x7f.1` and `2130706433` are addresses to the C library although they are none to Node. */
function isPlainHost(host: string): boolean {
  const labels = host.split('.')
  if (labels.length === 4 && labels.every(label => /^(?:0|[1-9][0-9]{0,2})$/.test(label) && Number(label) <= 255)) return true
  if (/^(?:[0-9]+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '')) return false
  return labels.every(label => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(label))
}
