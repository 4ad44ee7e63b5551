import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createReceiver } from '../../app/index.ts'
import { silentLogger } from '../../telemetry/index.ts'
import { program } from '../program.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'grokbot-deliver-'))
const payload = path.join(folder, 'payload.json')
/** Bytes that no JSON writer would give back the same way. */
const bytes = '{ "action" : "created", "text": "\\u001B[0m \\u{1F600}" }'.replace('\\u{1F600}', '😀')
const stored: { id: string; event: string; body: string }[] = []
let server: Server
let url: string

beforeAll(async () => {
  writeFileSync(payload, bytes)
  const ports = {
    recordDelivery: async ({ id, event, body }: { id: string; event: string; body: Uint8Array }) => {
      const known = stored.some(delivery => delivery.id === id)
      if (!known) stored.push({ id, event, body: Buffer.from(body).toString('utf8') })
      return known ? ('known' as const) : ('recorded' as const)
    },
    onDelivery: () => undefined,
    notReady: async () => null,
    now: Date.now,
    logger: silentLogger,
  }
  server = createReceiver({ secret: 'right', deliveryBytesMax: 1_000, paths: ['/webhook'] }, ports).listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`
})
afterAll(() => {
  server.close()
  server.closeAllConnections()
  rmSync(folder, { recursive: true, force: true })
})

const deliver = async (secret: string | null, ...more: string[]) => {
  const env = { PATH: process.env['PATH'] ?? '', ...(secret === null ? {} : { WEBHOOK_SECRET: secret }) }
  const { exitCode, stdout, stderr } = await execa(process.execPath, [program, 'deliver', payload, '--event', 'issue_comment', ...more], {
    env,
    extendEnv: false,
    reject: false,
  })
  return { exitCode, stdout, stderr }
}

test('a payload arrives byte for byte, signed, and the same id again is a redelivery', async () => {
  const first = await deliver('right', '--url', url, '--delivery', 'd-1', '--json')
  const again = await deliver('right', '--url', url, '--delivery', 'd-1')
  expect([first.exitCode, JSON.parse(first.stdout), again.exitCode, again.stdout, stored]).toEqual([
    0,
    { delivery: 'd-1', status: 202, answer: 'recorded' },
    0,
    '202 known  (delivery d-1)',
    [{ id: 'd-1', event: 'issue_comment', body: bytes }],
  ])
})

test('what was not taken, and what could not be sent, is said with the exit code for it', async () => {
  const [wrong, none, nobody, nothing] = await Promise.all([
    deliver('wrong', '--url', url),
    deliver(null, '--url', url),
    deliver('right', '--url', 'http://127.0.0.1:9/webhook'),
    deliver('right', '--url', url, '--delivery', 'd\n1'),
  ])
  expect([wrong.exitCode, wrong.stdout]).toEqual([1, expect.stringMatching(/^401 signature missing or wrong/)])
  expect([none.exitCode, none.stderr]).toEqual([2, expect.stringContaining('WEBHOOK_SECRET is not set')])
  expect([nobody.exitCode, nobody.stderr]).toEqual([2, expect.stringContaining('can not be reached')])
  expect([nothing.exitCode, nothing.stderr]).toEqual([2, expect.stringMatching(/--delivery is one word .*\[option-value\]/)])
})
