import { createHmac, timingSafeEqual } from 'node:crypto'
import { fdatasync, openSync, writeSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'

/**
 * What the receiver is measured against, each a process of its own that prints its port: a bare server that checks the
 * signature, one that also has a row on the disk before it answers, and Probot's middleware with an App that does nothing.
 * Arguments: which, the secret, a file, a private key in PEM.
 */
const [kind = '', secret = '', file = '', privateKey = ''] = process.argv.slice(2)

const doors: Record<string, () => RequestListener | Promise<RequestListener>> = {
  bare: () => answer(() => undefined),
  synced() {
    const append = openAppender(file)
    return answer(append)
  },
  probot: () => probot(() => undefined),
  // One handler, empty: for each delivery Probot makes a client of GitHub's API and a logger.
  'probot-handler': () => probot(app => app.on('issue_comment.created', () => undefined)),
}

function answer(store: (body: Buffer) => Promise<void> | undefined): RequestListener {
  return async (request, response) => {
    const body = await read(request)
    const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`)
    const given = Buffer.from(String(request.headers['x-hub-signature-256']))
    const isSigned = given.length === expected.length && timingSafeEqual(given, expected)
    if (isSigned) await store(body)
    response.writeHead(isSigned ? 202 : 401, { 'content-length': 0 }).end()
  }
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Group commit on a bare file: what came in while the last sync ran shares the next one. */
function openAppender(path: string): (body: Buffer) => Promise<void> {
  const descriptor = openSync(path, 'a')
  const sync = promisify(fdatasync)
  let waiting: { body: Buffer; done: () => void }[] = []
  let isRunning = false
  async function run() {
    isRunning = true
    while (waiting.length > 0) {
      const group = waiting
      waiting = []
      writeSync(descriptor, Buffer.concat(group.map(({ body }) => body)))
      await sync(descriptor)
      for (const { done } of group) done()
    }
    isRunning = false
  }
  return body =>
    new Promise(done => {
      waiting.push({ body, done })
      if (!isRunning) setImmediate(() => void run())
    })
}

async function probot(load: (app: import('probot').Probot) => void): Promise<RequestListener> {
  const { createNodeMiddleware, Probot } = await import('probot')
  const app = new Probot({ appId: 1, privateKey, secret, logLevel: 'fatal' })
  return (await createNodeMiddleware(load, { probot: app, webhooksPath: '/api/github/webhooks' })) as RequestListener
}

const door = doors[kind]
if (!door) throw new Error(`there is no door ${kind}`)
const server = createServer(await door()).listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`)
})
