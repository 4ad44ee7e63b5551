import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Command } from 'commander'
import { afterAll, expect, test } from 'vitest'
import { appSettings } from '../../cli/app-settings.ts'
import { readConfigFile } from '../../cli/config/config-files.ts'
import { define as defineDeliver } from '../../cli/deliver.ts'
import { readKeys } from '../../cli/read-keys.ts'
import { readScript } from '../../cli/run/model.ts'
import { readIssue } from '../../cli/run/order.ts'
import { errorWords } from '../../cli/say-error.ts'
import { verifyFile } from '../../cli/verify.ts'
import type { Environment } from '../../config-schema/index.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'grokbot-named-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function deliver(file: string) {
  const command = new Command('deliver').exitOverride()
  defineDeliver(command, { WEBHOOK_SECRET: 'secret' } as Environment)
  await command.parseAsync([file, '--event', 'issues', '--url', 'http://127.0.0.1:9'], { from: 'user' })
}

/** The first line that a person reads. */
async function saidOf(call: () => unknown): Promise<string | undefined> {
  try {
    await call()
    return undefined
  } catch (error) {
    return errorWords(error, false).text.split('\n')[0]
  }
}

type Reader = [name: string, by: string, read: (file: string) => unknown]
const readers: Reader[] = [
  ['verify', '', file => verifyFile(file, {})],
  ['verify --key', '', readKeys],
  ['deliver', '', deliver],
  ['serve', 'PRIVATE_KEY_PATH: ', file => appSettings({ PRIVATE_KEY_PATH: file } as Environment)],
  ['run --issue', '--issue: ', readIssue],
  ['run --model-script', '--model-script: ', readScript],
]

test.each(readers)('%s of a file that is not there names it', async (_, by, read) => {
  const file = path.join(folder, 'nothere')
  expect(await saidOf(() => read(file))).toBe(`grokbot: ${by}there is no file ${file} [file-missing]`)
  expect(await saidOf(() => read(path.join(import.meta.filename, 'below')))).toMatch(/there is no file .*below \[file-missing\]$/)
})

test.each(readers)('%s of a path that can not be followed says so', async (_, by, read) => {
  const file = path.join(folder, 'n'.repeat(300))
  expect(await saidOf(() => read(file))).toBe(`grokbot: ${by}${file} can not be read: ENAMETOOLONG [file-unreadable]`)
})

test.each(readers.filter(([name]) => name !== 'verify --key'))('%s of a folder says that it is no file', async (_, by, read) => {
  expect(await saidOf(() => read(folder))).toBe(`grokbot: ${by}${folder} is no file [file-missing]`)
})

test('a configuration that is not there is none, and one that is a folder is no file', async () => {
  expect(readConfigFile(path.join(folder, 'none.yml'))).toBeNull()
  expect(await saidOf(() => readConfigFile(folder))).toBe(`grokbot: ${folder} is no file [file-missing]`)
})

test('keys that no address gives, and a server that is not there, are said with their cause', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys.json`
  server.close()
  await once(server, 'close')
  expect(await saidOf(() => readKeys(url))).toBe(`grokbot: ${url} can not be read: ECONNREFUSED [keys-unreachable]`)
  // A port that no client asks: there is a cause, and it has no code.
  expect(await saidOf(() => readKeys('http://127.0.0.1:9/keys.json'))).toBe(
    'grokbot: http://127.0.0.1:9/keys.json can not be read: bad port [keys-unreachable]',
  )
  expect(await saidOf(() => deliver(import.meta.filename))).toBe(
    'grokbot: http://127.0.0.1:9 can not be reached: bad port [server-unreachable]',
  )
})
