import { once } from 'node:events'
import type { Server } from 'node:http'
import { escapeText } from './escape.ts'
import { UsageError } from './exit.ts'
import { cliLimits } from './limits.ts'

/** Throws `UsageError` when that place can not be had. */
export async function listenAt(server: Server, place: { host: string; port: number }): Promise<void> {
  server.listen(place.port, place.host)
  await once(server, 'listening').catch(error => {
    throw listenError(error, place)
  })
}

function listenError(error: unknown, { host, port }: { host: string; port: number }): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') return new UsageError('port-in-use', `port ${port} is in use`)
  if (code === 'EACCES')
    return new UsageError('port-forbidden', `port ${port} may not be used by this user`, ['name one above 1023: --port N'])
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new UsageError('address-unknown', `this machine has no address ${escapeText(host)}`, ['name another one: --host ADDRESS'])
  return error
}

/** What is being answered gets its answer. */
export async function closeDoor(server: Server): Promise<void> {
  const closed = new Promise(done => server.close(done))
  server.closeIdleConnections()
  const late = setTimeout(() => server.closeAllConnections(), cliLimits.lastAnswersMs)
  await closed
  clearTimeout(late)
}
