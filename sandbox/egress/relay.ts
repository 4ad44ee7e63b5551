import { connect, createServer, type Socket } from 'node:net'

/**
 * Runs inside the session's network namespace, in a sandbox of its own: takes connections on the loopback port that
 * HTTP_PROXY names and carries their bytes to the proxy's Unix socket. It reads none of them. Arguments: port, socket path.
 */
const [port = '', socketPath = ''] = process.argv.slice(2)
const connectionsMax = 64

const server = createServer({ allowHalfOpen: true }, client => {
  const proxy = connect({ path: socketPath, allowHalfOpen: true })
  carry(client, proxy)
  carry(proxy, client)
})

function carry(from: Socket, to: Socket): void {
  from.pipe(to)
  from.on('error', () => to.destroy())
  from.on('close', () => to.destroySoon())
}

server.maxConnections = connectionsMax
server.listen({ host: '127.0.0.1', port: Number(port) }, () => process.stdout.write('ready\n'))
