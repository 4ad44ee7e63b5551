import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { checkEndpoints } from '../../cli/doctor/check-endpoints.ts'
import type { Environment } from '../../config-schema/index.ts'

const key = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
}).privateKey

async function appFinding(environment: Partial<Environment>) {
  const settings = { APP_ID: '1', WEBHOOK_SECRET: 's', PRIVATE_KEY: key, ...environment }
  return (await checkEndpoints(settings as Environment)).find(({ part }) => part === 'github app')
}

/** Of this machine; null once it is closed, when nothing listens at its address any more. */
async function openServer(status: number) {
  const server = createServer((_, response) => response.writeHead(status, { 'content-type': 'application/json' }).end('{"message":"no"}'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const close = async () => {
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  }
  return { url, close }
}

test('an address where nobody listens is named, with the network and the variable it came from', async () => {
  const { url, close } = await openServer(401)
  await close()
  expect(await appFinding({ GHE_API_URL: url })).toEqual({
    part: 'github app',
    state: 'broken',
    what: `${url} does not answer: ECONNREFUSED`,
    mend: 'check GHE_API_URL and the network',
  })
})

test('an answer that refuses the App is a matter of its id and key', async () => {
  const { url, close } = await openServer(401)
  try {
    expect(await appFinding({ GHE_API_URL: url })).toMatchObject({ state: 'broken', mend: 'check APP_ID and PRIVATE_KEY' })
  } finally {
    await close()
  }
})

test('settings that no server would start with are said as it says them', async () => {
  expect(await appFinding({ APP_ID: 'abc' })).toMatchObject({ state: 'broken', what: 'APP_ID is no id of a GitHub App: abc' })
  expect(await appFinding({ PRIVATE_KEY: undefined, PRIVATE_KEY_PATH: '/nowhere.pem' })).toMatchObject({
    state: 'broken',
    what: 'PRIVATE_KEY_PATH: there is no file /nowhere.pem',
  })
})
