export type RedisAddress = {
  host: string
  port: number
  tls: boolean
  /** Empty: the default user. */
  username: string
  /** Empty: Redis asks for none. */
  password: string
  database: number
}

/**
 * `redis://[[user]:password@]host[:port][/database]`, or `rediss://` for TLS. Null when it is not exactly that: a query or a
 * fragment would be an option that nobody here reads, such as one that asks for TLS.
 */
export function parseRedisUrl(text: string): RedisAddress | null {
  const url = URL.parse(text)
  if (url === null || !/^rediss?:$/.test(url.protocol) || url.hostname === '' || url.search !== '' || url.hash !== '') return null
  const [, database] = /^\/?([0-9]{0,9})$/.exec(url.pathname) ?? []
  const [username, password] = [decoded(url.username), decoded(url.password)]
  if (database === undefined || username === null || password === null) return null
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? 6379 : Number(url.port),
    tls: url.protocol === 'rediss:',
    username,
    password,
    database: Number(database),
  }
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
