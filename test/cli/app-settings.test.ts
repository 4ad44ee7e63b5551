import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { appSettings } from '../../cli/app-settings.ts'
import type { Environment } from '../../config-schema/index.ts'

const PRIVATE_KEY = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
}).privateKey
const settingsOf = (id: string) => appSettings({ APP_ID: id, WEBHOOK_SECRET: 's', PRIVATE_KEY } as Environment)

test.each([
  ['1', '1'],
  [' 1234567\n', '1234567'],
  ['Iv1.0123456789abcdef', 'Iv1.0123456789abcdef'],
  ['Iv23liAbCdEfGhIjKlMn', 'Iv23liAbCdEfGhIjKlMn'],
])('%j is the id of an App, or of its client', (given, appId) => {
  expect(settingsOf(given).appId).toBe(appId)
})

test.each(['abc', '0', '-1', '1.5', '12 34', 'my-app', '\u001b[2J'])('%j is none, and that is said before anything is started', given => {
  expect(() => settingsOf(given)).toThrow(
    expect.objectContaining({
      problem: 'environment-invalid',
      message: expect.stringMatching(/^APP_ID is no id of a GitHub App: [ -~]+$/),
    }),
  )
})
